package file

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/engine"
)

// In a job with replicas one replica of each rank reads and writes, and its siblings get what came
// of it: engine.Once. All that touches the disk, or a shared pointer, is a part of an operation
// that is done so. The operations of a file are numbered in the order in which the program begins
// them, and their parts in the order of the plan; so replicas mean the same by a number.

// operation is one of the program's on a file, in a job with replicas.
type operation struct {
	f            *File
	number, step uint64
}

// operation numbers the next operation; nil in a job without replicas.
func (f *File) operation() *operation {
	if !f.copies {
		return nil
	}
	return &operation{f: f, number: f.operations.Add(1)}
}

// caller says for whom a shared pointer is changed.
type caller struct {
	rank         int
	number, step uint64
	again        bool // another replica may have done it
}

// outcomeSize is the length of what stands in front of the data of a part's result: an error's
// number, and a number.
const outcomeSize = 12

// part is a part of the operation that one replica does. It returns a number, and data that the
// siblings need.
func (o *operation) part(heavy bool, work func(by caller) (n int64, data []byte, err error)) *engine.Once {
	o.step++
	by := caller{rank: o.f.comm.Rank(), number: o.number, step: o.step}
	return &engine.Once{Stream: o.f.comm.Stream(), Op: by.number, Step: by.step, Heavy: heavy, Do: func(again bool) []byte {
		by.again = again
		n, data, err := int64(0), []byte(nil), o.f.absent
		if err == nil {
			n, data, err = work(by)
		}
		b := make([]byte, outcomeSize, outcomeSize+len(data))
		binary.LittleEndian.PutUint32(b, uint32(number(err)))
		binary.LittleEndian.PutUint64(b[4:], uint64(n))
		return append(b, data...)
	}}
}

// outcome reads the result of a part. What a replica says of an error is the same at all.
func (f *File) outcome(what string, x *engine.Once) (n int64, data []byte, err error) {
	b := x.Result()
	if len(b) < outcomeSize {
		return 0, nil, &os.PathError{Op: what, Path: f.name, Err: syscall.EIO}
	}
	if e := syscall.Errno(binary.LittleEndian.Uint32(b)); e != 0 {
		err = &os.PathError{Op: what, Path: f.name, Err: e}
	}
	return int64(binary.LittleEndian.Uint64(b[4:])), b[outcomeSize:], err
}

// once does something once, and waits for it.
func (f *File) once(what string, work func(by caller) (int64, error)) (int64, error) {
	if !f.copies {
		return work(caller{})
	}
	x := f.operation().part(false, func(by caller) (int64, []byte, error) {
		n, err := work(by)
		return n, nil, err
	})
	if err := f.comm.Once(x); err != nil {
		return 0, err
	}
	n, _, err := f.outcome(what, x)
	return n, err
}

// named is once, the first time that a name is used: it finds out whether the replicas of this rank
// name the same file. If they didn't, one would write the file that it means, and the others would
// go on as if it were theirs: their programs may look at theirs by other means, and a substitute
// would write another one.
func (f *File) named(what string, work func(by caller) (int64, error)) (int64, error) {
	if !f.copies {
		return work(caller{})
	}
	x := f.operation().part(false, func(by caller) (int64, []byte, error) {
		n, err := work(by)
		return n, []byte(f.name), err
	})
	if err := f.comm.Once(x); err != nil {
		return 0, err
	}
	n, name, err := f.outcome(what, x)
	if name != nil && string(name) != f.name {
		err = fmt.Errorf("one replica means %s and this one %s: %w", name, f.name, ErrNames)
	}
	return n, err
}

// heavyPart is how much is read in one part: its data travels to the siblings.
const heavyPart = 4 << 20

// parts adds an access of this rank alone to a plan.
func (o *operation) parts(s comm.Stage, a *Access, runs []Run, out *Outcome) {
	f := o.f
	if a.Write {
		x := o.part(false, func(caller) (int64, []byte, error) {
			done := f.transfer(a, runs)
			return done.N, nil, done.Err
		})
		s.Once(x)
		s.Wait()
		s.Local(func() { out.N, _, out.Err = f.outcome("write", x) })
		return
	}
	size := int64(heavyPart)
	if f.strict.Load() { // all of it under one lock
		size = max(size, int64(len(a.Data)))
	}
	ended := false
	for data := a.Data; len(data) > 0; {
		n := min(size, int64(len(data)))
		part, some := data[:n], []Run(nil)
		some, runs = front(runs, n)
		data = data[n:]
		x := o.part(true, func(caller) (int64, []byte, error) {
			if ended {
				return 0, nil, nil
			}
			done := f.transfer(&Access{Data: part}, some)
			return done.N, part[:done.N], done.Err
		})
		s.Once(x)
		s.Wait()
		s.Local(func() {
			if ended {
				return
			}
			got, data, err := f.outcome("read", x)
			if !x.Mine {
				copy(part, data)
			}
			out.N, out.Err = out.N+got, err
			ended = err != nil || got < n
		})
	}
}

// front divides runs behind their first n bytes.
func front(runs []Run, n int64) (first, rest []Run) {
	for i, r := range runs {
		if n <= r.Len {
			first = append(first, runs[:i]...)
			first = append(first, Run{r.Off, n})
			if n < r.Len {
				rest = append(rest, Run{r.Off + n, r.Len - n})
			}
			return first, append(rest, runs[i+1:]...)
		}
		n -= r.Len
	}
	return runs, nil
}

// Alone is an access of this rank alone, as a plan of any communicator. out is its outcome when the
// plan has ended.
func (f *File) Alone(c *comm.Comm, a *Access, out *Outcome) *comm.Plan {
	o := f.operation()
	return c.Staged("Access", func(s comm.Stage) { f.alonePart(s, o, a, out) })
}

// alonePart adds an access of this rank alone to a plan. o is nil in a job without replicas.
func (f *File) alonePart(s comm.Stage, o *operation, a *Access, out *Outcome) {
	runs, err := a.View.Runs(a.Skip, int64(len(a.Data)))
	switch {
	case err != nil:
		*out = Outcome{Err: err}
	case o == nil:
		*out = f.transfer(a, runs)
	default:
		o.parts(s, a, runs, out)
	}
}
