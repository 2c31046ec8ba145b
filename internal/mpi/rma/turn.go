package rma

import (
	"unsafe"

	"banyan/internal/mpi/reduce"
	"banyan/internal/proto"
)

// manner is how elements are accumulated.
type manner uint8

const (
	byInstructions manner = iota // each element by one instruction, among others
	inPlace                      // alone at the part, where the elements lie
	byCopies                     // alone, on copies: the elements don't lie as the processor wants them
)

func (h manner) alone() bool { return h != byInstructions }

// fewBytes is as much as is accumulated by instructions for elements. For more, to be alone costs
// less than the instructions.
const fewBytes = 64

// manner is how a message's elements are accumulated.
func (m *message) manner(base unsafe.Pointer) manner {
	if !hardware(m.kind) || !m.aligned(base, m.kind.Size()) {
		return byCopies
	}
	if n, _ := m.bytes(); n > fewBytes {
		return inPlace
	}
	return byInstructions
}

// begin begins to accumulate at a rank's part, which this process can reach, and waits for others
// that are in its way.
func (w *Window) begin(rank int, alone bool) error {
	if w.memory.HasTurns(rank) {
		return w.memory.Turn(rank, alone)
	}
	w.alone.Lock() // other threads of this process
	return nil
}

// end is the end of begin.
func (w *Window) end(rank int, alone bool) {
	if w.memory.HasTurns(rank) {
		w.memory.EndTurn(rank, alone)
	} else {
		w.alone.Unlock()
	}
}

// accumulateHere carries an accumulate out that this process can reach.
func (w *Window) accumulateHere(a *Access, m *message, base unsafe.Pointer) error {
	u := &under{message: *m, base: base, how: m.manner(base)}
	u.all, _ = m.bytes()
	switch {
	case m.verb == swap:
		u.data = append(append([]byte(nil), a.Origin.packed()...), a.With.packed()...)
	case m.verb == accumulate || m.op != reduce.NoOp:
		u.data = a.Origin.packed()
	}
	if m.verb != accumulate {
		contiguous := false
		if u.old, contiguous = a.Result.contiguous(); !contiguous || m.verb == fetch {
			u.old = make([]byte, u.all) // the result may be the origin's memory
		}
	}
	for over := false; !over; {
		if err := w.begin(a.Rank, u.how.alone()); err != nil {
			return err
		}
		over = u.goOn()
		w.end(a.Rank, u.how.alone())
	}
	if m.verb != accumulate {
		a.Result.unpack(u.old)
	}
	return nil
}

// goOn carries out the next piece of an access at this rank's part for another rank, with the
// engine's lock held, and tells whether that was the last. If others are in its way it is called
// again.
func (t *target) goOn(u *under) bool {
	if t.w.led {
		over := u.goOn()
		if over {
			t.w.public.wrote(&u.message)
		}
		return over
	}
	if u.verb < accumulate {
		return u.goOn()
	}
	self, alone := t.w.comm.Rank(), u.how.alone()
	if !t.w.memory.TryTurn(self, alone, t.lost) {
		return false
	}
	over := u.goOn()
	t.w.memory.EndTurn(self, alone)
	return over
}

func (t *target) lost(r proto.Rank) bool { return t.w.ear.Lost(r) }
