package binding

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"banyan/internal/runtime/engine"
)

// The functions of mpi-ext.h: a program registers its state with them, so that a dead replica
// of its rank can be replaced. They are extensions to MPI; their entry points are in
// capi/ext.c.

// StateRegister is MPIX_State_register: count elements of a datatype at an address are part of
// the program's state. The elements must lie one after another.
func (p *Process) StateRegister(name *byte, address unsafe.Pointer, count int64, datatype Datatype) Code {
	const function = "MPIX_State_register"
	if !p.live() {
		return p.outOfTime(function)
	}
	o := p.datatype(datatype)
	if o == nil || count < 0 || !o.committed.Load() {
		return p.badData(nil, function, count, datatype, o)
	}
	first, contiguous := o.Contiguous(count)
	size, fits := o.Bytes(count)
	switch {
	case !contiguous:
		return p.fail(nil, function, ErrType, "the elements of %s don't lie one after another", o.title())
	case !fits:
		return p.fail(nil, function, ErrCount, "%d elements of %s are too many", count, o.title())
	case size > 0 && (address == nil || special(address)):
		return p.fail(nil, function, ErrBuffer, "%d bytes at %p", size, address)
	}
	var v engine.Variable
	if size > 0 {
		v.Memory = unsafe.Slice((*byte)(unsafe.Add(address, first)), size)
	}
	if err := p.job.Engine().Register(goString(name), v); err != nil {
		return p.fail(nil, function, ErrArg, "%v", err)
	}
	return Success
}

// StateRegisterFunction is MPIX_State_register_function: functions of the program give and take a
// part of its state.
func (p *Process) StateRegisterFunction(name *byte, save, load, extra uintptr) Code {
	const function = "MPIX_State_register_function"
	if !p.live() {
		return p.outOfTime(function)
	}
	if save == 0 || load == 0 {
		return p.fail(nil, function, ErrArg, "a function is NULL")
	}
	v := engine.Variable{
		Pieces: func() ([][]byte, error) {
			pieces, code := p.host.SaveState(save, extra)
			if code != Success {
				return nil, fmt.Errorf("the function returned %d", code)
			}
			return pieces, nil
		},
		Load: func(data []byte) error {
			if code := p.host.LoadState(load, extra, data); code != Success {
				return fmt.Errorf("the function returned %d", code)
			}
			return nil
		},
	}
	if err := p.job.Engine().Register(goString(name), v); err != nil {
		return p.fail(nil, function, ErrArg, "%v", err)
	}
	return Success
}

// StateUnregister is MPIX_State_unregister.
func (p *Process) StateUnregister(name *byte) Code {
	const function = "MPIX_State_unregister"
	if !p.live() {
		return p.outOfTime(function)
	}
	if err := p.job.Engine().Unregister(goString(name)); err != nil {
		return p.fail(nil, function, ErrArg, "%v", err)
	}
	return Success
}

// Safepoint is MPIX_Safepoint. restored may be nil.
func (p *Process) Safepoint(restored *int32) Code {
	const function = "MPIX_Safepoint"
	if !p.live() {
		return p.outOfTime(function)
	}
	was, err := p.job.Engine().Safepoint(site{p})
	if restored != nil {
		*restored = truth(was)
	}
	if err != nil {
		return p.failWith(p.world.Load(), function, err)
	}
	return Success
}

// ExpectSafepoints is MPIX_Expect_safepoints.
func (p *Process) ExpectSafepoints(total int64) Code {
	const function = "MPIX_Expect_safepoints"
	if !p.live() {
		return p.outOfTime(function)
	}
	if total < 0 {
		return p.fail(nil, function, ErrCount, "%d safe points", total)
	}
	p.job.Engine().ExpectSafepoints(uint64(total))
	return Success
}

// site is a Process at a safe point of its program.
type site struct{ p *Process }

// Flush implements engine.Site.
func (s site) Flush() {
	if s.p.host.Flush != nil {
		s.p.host.Flush()
	}
}

// Handles implements engine.Site. A replacement has only the handles that its program makes up
// to the first safe point, so a donor must have the same ones.
func (s site) Handles(first bool) error {
	p := s.p
	p.reclaim()
	if n := p.requests.busy(); n > 0 {
		return fmt.Errorf("requests that haven't been completed: %d", n)
	}
	if n := len(p.files.live()); n > 0 {
		return fmt.Errorf("files that are open: %d", n)
	}
	for _, h := range p.wins.live() {
		if w := p.wins.get(h); w != nil {
			if err := w.rma.Busy(); err != nil {
				return err
			}
		}
	}
	live := p.handles()
	if first && p.copies() && p.usedFiles.Load() {
		return errors.New("files that were used before the first safe point: a replacement, which begins again, would use them twice")
	}
	if first {
		p.firstHandles = live
		return nil
	}
	for i, now := range live {
		was := p.firstHandles[i]
		for _, h := range now {
			if !slices.Contains(was, h) {
				return fmt.Errorf("%s was made after the first safe point", kindName(h))
			}
		}
		for _, h := range was {
			if !slices.Contains(now, h) {
				return fmt.Errorf("%s was freed after the first safe point", kindName(h))
			}
		}
	}
	return nil
}

// reclaim frees requests and buffered messages that the library still holds and that have
// ended.
func (p *Process) reclaim() {
	if p.requests.orphaned.Load() {
		p.reap()
	}
	settle := func(s *sendBuffer) {
		s.mu.Lock()
		s.room()
		s.mu.Unlock()
	}
	settle(&p.sendBuffer)
	for _, h := range p.comms.live() {
		if c := p.comms.get(h); c != nil {
			settle(&c.sendBuffer)
		}
	}
}

// handles are all handles of the program, by kind.
func (p *Process) handles() [][]uintptr {
	return [][]uintptr{
		p.comms.live(), p.groups.live(), p.datatypes.made.live(), p.ops.live(), p.requests.live(),
		p.messages.live(), p.infos.live(), p.errhandlers.live(), p.wins.live(),
	}
}

// live are the handles in use, in the order of the table.
func (t *table[T]) live() (handles []uintptr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.used {
		if h := t.chunks[i>>chunkBits].Load()[i&(chunkSize-1)].handle.Load(); h != 0 {
			handles = append(handles, uintptr(h))
		}
	}
	return handles
}

// busy is how many requests aren't inactive.
func (q *requests) busy() (n int) {
	for _, h := range q.live() {
		if r := q.get(h); r != nil && r.state != inactive {
			n++
		}
	}
	return n
}
