package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"syscall"

	"banyan/internal/mpi/comm"
)

// Access is one read or write of a rank. Data is as it lies in the file.
type Access struct {
	Write bool
	View  *View
	Skip  int64 // bytes of the view before it
	Data  []byte
}

// Outcome is how an access ended.
type Outcome struct {
	N   int64 // bytes, of the view
	Err error
}

// Independent carries an access out, of this rank alone, in a job without replicas.
func (f *File) Independent(a *Access) Outcome {
	runs, err := a.View.Runs(a.Skip, int64(len(a.Data)))
	if err != nil {
		return Outcome{Err: err}
	}
	return f.transfer(a, runs)
}

// transfer moves the data of an access to or from its runs.
func (f *File) transfer(a *Access, runs []Run) Outcome {
	if f.strict.Load() {
		f.alone.Lock()
		defer f.alone.Unlock()
		unlock, err := f.lock(runs, a.Write)
		if err != nil {
			return Outcome{Err: err}
		}
		defer unlock()
	}
	if a.Write {
		if err := f.disk.write(runs, a.Data); err != nil {
			return Outcome{Err: err}
		}
		return Outcome{N: int64(len(a.Data))}
	}
	n, err := f.disk.read(runs, a.Data)
	return Outcome{N: n, Err: err}
}

// Ordered is an access of all members at the shared pointer, one behind another in rank order. It
// sets the access's place.
func (f *File) Ordered(a *Access, out *Outcome) *comm.Plan {
	f.moved.Store(true)
	o := f.operation()
	return f.comm.Staged("Ordered", func(s comm.Stage) {
		own, all := s.Scratch(8), s.Scratch(8*s.Size())
		binary.LittleEndian.PutUint64(own, uint64(int64(len(a.Data))/a.View.etype))
		s.Allgather(own, all)
		s.Then(func(s comm.Stage) {
			before, total := int64(0), int64(0)
			for r := range s.Size() {
				if r == s.Rank() {
					before = total
				}
				total += int64(binary.LittleEndian.Uint64(all[8*r:]))
			}
			told := s.Scratch(16) // where the first begins, and an error
			if s.Rank() == 0 {
				f.reserve(s, o, total, told)
				for r := 1; r < s.Size(); r++ {
					s.Send(r, told)
				}
			} else {
				s.Receive(0, told)
			}
			s.Wait()
			s.Then(func(s comm.Stage) { f.from(s, o, a, told, before, out) })
		})
	})
}

// reserve moves the shared pointer by n etypes, and says where it was, and an error.
func (f *File) reserve(s comm.Stage, o *operation, n int64, told []byte) {
	tell := func(at int64, err error) {
		binary.LittleEndian.PutUint64(told, uint64(at))
		binary.LittleEndian.PutUint64(told[8:], uint64(number(err)))
	}
	if o == nil {
		tell(f.shared.add(n, caller{}))
		return
	}
	x := o.part(false, func(by caller) (int64, []byte, error) {
		at, err := f.shared.add(n, by)
		return at, nil, err
	})
	s.Once(x)
	s.Wait()
	s.Local(func() {
		at, _, err := f.outcome("shared pointer", x)
		tell(at, err)
	})
}

// from carries an access out that begins behind others, which begin where rank 0 says.
func (f *File) from(s comm.Stage, o *operation, a *Access, told []byte, before int64, out *Outcome) {
	if n := syscall.Errno(binary.LittleEndian.Uint64(told[8:])); n != 0 {
		*out = Outcome{Err: fmt.Errorf("the shared file pointer: %w", n)}
		return
	}
	at := int64(binary.LittleEndian.Uint64(told))
	if at > math.MaxInt64-before {
		*out = Outcome{Err: ErrFar}
		return
	}
	skip, err := a.View.Bytes(at + before)
	if err != nil {
		*out = Outcome{Err: err}
		return
	}
	a.Skip = skip
	f.alonePart(s, o, a, out)
}
