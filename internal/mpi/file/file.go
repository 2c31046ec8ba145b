package file

import (
	"encoding/binary"
	"fmt"
	"math"
)

// View is the view that this rank has.
func (f *File) View() *View { return f.view.Load() }

// Hints are the hints in use.
func (f *File) Hints() Hints { return *f.hints.Load() }

// SetHints has all members use the hints of rank 0. All members call it.
func (f *File) SetHints(h Hints) error {
	own, all := make([]byte, hintsSize), make([]byte, hintsSize*f.comm.Size())
	h.encode(own)
	if err := f.comm.Allgather(own, all).Run(); err != nil {
		return err
	}
	f.useHints(decodeHints(all))
	return nil
}

func (f *File) useHints(h Hints) {
	f.hints.Store(&h)
	f.sieve = h.Sieve
}

// CanRead and CanWrite say how the file was opened.
func (f *File) CanRead() bool { return f.read }

// CanWrite: see CanRead.
func (f *File) CanWrite() bool { return f.write }

// Atomic tells whether the file is in atomic mode.
func (f *File) Atomic() bool { return f.strict.Load() }

// SetAtomic sets or ends atomic mode. All members call it.
func (f *File) SetAtomic(on bool) error {
	b := byte(0)
	if on {
		b = 1
	}
	all := make([]byte, f.comm.Size())
	if err := f.comm.Allgather([]byte{b}, all).Run(); err != nil {
		return err
	}
	for r, other := range all {
		if other != all[0] {
			return fmt.Errorf("the flag is %d at rank 0 and %d at rank %d: %w", all[0], other, r, ErrNotSame)
		}
	}
	f.strict.Store(on)
	return nil
}

// SetView has this rank see the file by a view, and resets all pointers. label must be the same at
// all members: the size of the etype and the data representation, say. All members call it, and
// use the hints of rank 0. v is nil if this rank's arguments are wrong; then no view changes.
func (f *File) SetView(v *View, label uint64, h Hints) error {
	const size = 16 + hintsSize
	own, all := make([]byte, size), make([]byte, size*f.comm.Size())
	if v == nil {
		own[8] = 1
	}
	if f.moved.Load() {
		own[9] = 1
	}
	binary.LittleEndian.PutUint64(own, label)
	h.encode(own[16:])
	if err := f.comm.Allgather(own, all).Run(); err != nil {
		return err
	}
	moved := false
	for r := range f.comm.Size() {
		record := all[size*r:]
		moved = moved || record[9] != 0
		switch {
		case record[8] != 0:
			return fmt.Errorf("rank %d: %w", r, ErrElsewhere)
		case binary.LittleEndian.Uint64(record) != binary.LittleEndian.Uint64(all):
			return fmt.Errorf("the etypes or data representations of ranks 0 and %d: %w", r, ErrNotSame)
		}
	}
	f.useHints(decodeHints(all[16:]))
	f.view.Store(v)
	f.mu.Lock()
	f.position = 0
	f.mu.Unlock()
	if !moved {
		return nil
	}
	f.moved.Store(false)
	return f.setShared(0)
}

// setShared sets the shared pointer when all members have come, and before any goes on.
func (f *File) setShared(n int64) error {
	return f.byFirst(func(by caller) error { return f.shared.set(n, by) })
}

// Whence says what a seek counts from.
type Whence int

// The places that a seek counts from.
const (
	FromStart Whence = iota
	FromCurrent
	FromEnd
	Nowhere // a wrong argument
)

// target is where a seek goes to, in etypes. end says how long the file is.
func (f *File) target(v *View, offset int64, whence Whence, current int64, end func() (int64, error)) (int64, error) {
	base := int64(0)
	switch whence {
	case FromCurrent:
		base = current
	case FromEnd:
		size, err := end()
		if err != nil {
			return 0, err
		}
		base = (v.Before(size) + v.etype - 1) / v.etype
	}
	if offset > 0 && base > math.MaxInt64-offset {
		return 0, ErrFar
	}
	if base += offset; base < 0 {
		return 0, fmt.Errorf("%w: the pointer would be at %d", ErrView, base)
	}
	return base, nil
}

// Move moves the individual pointer.
func (f *File) Move(offset int64, whence Whence) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.target(f.View(), offset, whence, f.position, f.Size)
	if err == nil {
		f.position = n
	}
	return err
}

// Position is the individual pointer.
func (f *File) Position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.position
}

// Advance moves the individual pointer by n etypes, and returns where it was.
func (f *File) Advance(n int64) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.position
	if n > math.MaxInt64-was {
		return 0, ErrFar
	}
	f.position += n
	return was, nil
}

// AdvanceShared moves the shared pointer by n etypes, and returns where it was.
func (f *File) AdvanceShared(n int64) (int64, error) {
	f.moved.Store(true)
	return f.once("shared pointer", func(by caller) (int64, error) { return f.shared.add(n, by) })
}

// SharedPosition is the shared pointer.
func (f *File) SharedPosition() (int64, error) {
	return f.once("shared pointer", func(caller) (int64, error) { return f.shared.get() })
}

// MoveShared moves the shared pointer. All members call it, with the same arguments.
func (f *File) MoveShared(offset int64, whence Whence) error {
	own, all := make([]byte, 16), make([]byte, 16*f.comm.Size())
	binary.LittleEndian.PutUint64(own, uint64(offset))
	own[8] = byte(whence)
	if err := f.comm.Allgather(own, all).Run(); err != nil {
		return err
	}
	for r := range f.comm.Size() {
		record := all[16*r:]
		if Whence(record[8]) == Nowhere {
			return fmt.Errorf("rank %d: %w", r, ErrElsewhere)
		}
		if binary.LittleEndian.Uint64(record) != binary.LittleEndian.Uint64(all) || record[8] != all[8] {
			return fmt.Errorf("the places of ranks 0 and %d: %w", r, ErrNotSame)
		}
	}
	f.moved.Store(true)
	return f.byFirst(func(by caller) error {
		current, err := f.shared.get()
		if err != nil {
			return err
		}
		n, err := f.target(f.View(), offset, whence, current, f.length)
		if err != nil {
			return err
		}
		return f.shared.set(n, by)
	})
}

// Same is an error at all members unless all give the same number. All call it.
func (f *File) Same(what string, n int64) error {
	all := make([]byte, 8*f.comm.Size())
	if err := f.comm.Allgather(binary.LittleEndian.AppendUint64(nil, uint64(n)), all).Run(); err != nil {
		return err
	}
	for r := range f.comm.Size() {
		if other := int64(binary.LittleEndian.Uint64(all[8*r:])); other != int64(binary.LittleEndian.Uint64(all)) {
			return fmt.Errorf("%s is %d at rank 0 and %d at rank %d: %w", what, int64(binary.LittleEndian.Uint64(all)), other, r, ErrNotSame)
		}
	}
	return nil
}
