package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// Input is the program's side of its standard input: what lies between the descriptor and what the
// program has taken.
type Input interface {
	// Unread is how many bytes have been read and not yet taken. ok is false if nobody can tell.
	Unread() (n int64, ok bool)
	// Skip takes so many bytes of the input and drops them.
	Skip(n int64) error
}

// SetInput says how the program reads its input. Without it nobody can tell what the program has
// taken of what has been read. It must be the same at all replicas, and before the first safe point.
func (e *Engine) SetInput(i Input) {
	e.lock()
	defer e.mu.Unlock()
	e.safe.input.source = i
}

// input is where the program is in its standard input.
type input struct {
	source Input
	// opaque says that this can't be told. Then nothing may be read between the first safe point
	// and a donation, of which the launcher takes care.
	opaque bool
	first  int64 // bytes taken before the first safe point
	unread int64 // at the present safe point
}

// look finds out what is in the program's buffers. No lock is held: the source is the program's.
func (i *input) look() {
	if i.source == nil {
		i.opaque = true
		return
	}
	n, ok := i.source.Unread()
	i.unread, i.opaque = n, !ok
}

const inputRegion = "the library: where the program is in its input"

// errNoInput is for jobs under another launcher.
var errNoInput = errors.New("its program has read input, of which a spare process has none")

// position is how much of the input the program has taken. Where no launcher says how much has been read, it is
// that to a difference which stays the same while nothing is read.
func (i *input) position(p *process.Process) int64 {
	read, _ := p.InputRead()
	return read - i.unread
}

// enterFirst notes where the program is at its first safe point.
func (i *input) enterFirst(p *process.Process) { i.first = i.position(p) }

// lost tells whether the program has taken input after its first safe point that no launcher could give to a
// replacement.
func (i *input) lost(p *process.Process) bool {
	_, launched := p.InputRead()
	return !launched && !i.opaque && i.position(p) != i.first
}

// save is the region about the input: where the program was at its first safe point, and how
// much it has taken since. The launcher must have said how much has been read.
func (i *input) save(p *process.Process) state.Region {
	taken := int64(0)
	if !i.opaque {
		taken = i.position(p) - i.first
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(i.first))
	return state.Bytes(inputRegion, binary.LittleEndian.AppendUint64(b, uint64(taken)))
}

// restore brings the program of a replacement to where its donor is in its input. No lock is held.
func (i *input) restore(b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("%d bytes, want 16", len(b))
	}
	i.first = int64(binary.LittleEndian.Uint64(b))
	taken := int64(binary.LittleEndian.Uint64(b[8:]))
	switch {
	case taken == 0:
		return nil
	case taken < 0 || i.source == nil:
		return fmt.Errorf("the donor has taken %d bytes since its first safe point", taken)
	}
	return i.source.Skip(taken)
}
