package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// Input is the program's side of its standard input: the buffers between the descriptor and the
// program.
type Input interface {
	// Unread is how many bytes the buffers have read and the program hasn't taken. ok is false if
	// that can't be told.
	Unread() (n int64, ok bool)
	// Skip takes n bytes of the input and drops them.
	Skip(n int64) error
}

// SetInput says how the program reads its input. Without it the engine can't tell how much of what
// has been read the program has taken. All replicas must set the same, before the first safe point.
func (e *Engine) SetInput(i Input) {
	e.lock()
	defer e.mu.Unlock()
	e.safe.input.source = i
}

// input is the program's position in its standard input.
type input struct {
	source Input
	// opaque says that the position can't be told. Then nothing may be read between the first safe
	// point and a donation; the launcher sees to that.
	opaque bool
	first  int64 // bytes taken before the first safe point
	unread int64 // at the present safe point
}

// look asks what is in the program's buffers. The lock isn't held, because the source is the
// program's.
func (i *input) look() {
	if i.source == nil {
		i.opaque = true
		return
	}
	n, ok := i.source.Unread()
	i.unread, i.opaque = n, !ok
}

const inputRegion = "the library: where the program is in its input"

// errNoInput is the error in jobs under another launcher.
var errNoInput = errors.New("its program has read input, of which a spare process has none")

// position is how many bytes of the input the program has taken. Under a launcher that doesn't say
// how much has been read it is too small, by a number that stays the same while nothing is read.
func (i *input) position(p *process.Process) int64 {
	read, _ := p.InputRead()
	return read - i.unread
}

// enterFirst notes the position at the first safe point.
func (i *input) enterFirst(p *process.Process) { i.first = i.position(p) }

// lost tells whether the program has taken input after its first safe point that no launcher could
// give to a replacement.
func (i *input) lost(p *process.Process) bool {
	_, launched := p.InputRead()
	return !launched && !i.opaque && i.position(p) != i.first
}

// save is the region about the input: the position at the first safe point, and how many bytes the
// program has taken since. The launcher must have said how much has been read.
func (i *input) save(p *process.Process) state.Region {
	taken := int64(0)
	if !i.opaque {
		taken = i.position(p) - i.first
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(i.first))
	return state.Bytes(inputRegion, binary.LittleEndian.AppendUint64(b, uint64(taken)))
}

// restore brings the program of a replacement to its donor's position in the input. The lock isn't
// held.
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
