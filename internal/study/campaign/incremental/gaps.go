package incremental

import (
	"math/bits"
	"slices"
)

// run is what changes from run to run.
type run struct {
	// reached has a bit for each participant; those beyond the last process are
	// set as well.
	reached []uint64
	cells   []cell
	// colouredIn is the slot in which each corrected process was coloured, if there is a listener.
	colouredIn []int32
	ends       []end
	active     []int32  // ends that may still send, in the order of their numbers
	due        [][]news // by slot: what is heard from its beginning on

	treeMessages, played    int
	lost                    int // messages of the tree, and played ones, to dead processes
	participants, unreached int32
	maxGap                  int32
	// The last slot in which …, or -1.
	lastColoured int32 // a live process was coloured by a correction
	lastReceived int32 // a live process received a correction
	lastDropped  int32 // a correction was sent to a dead process
}

// cell is a process as a receiver.
type cell struct {
	state int32 // one of those below, or the index of its end plus 1
	free  int32 // the first slot in which it could receive what comes next
}

const (
	inside    = 0  // reached, and no end of a gap
	missed    = -1 // not coloured
	corrected = -2 // coloured by a correction
	dead      = -3
)

func (r *run) init(procs int) {
	r.reached = make([]uint64, (procs+63)/64)
	r.cells = make([]cell, procs)
}

func (r *run) reset() {
	for i := range r.reached {
		r.reached[i] = ^uint64(0)
	}
	clear(r.cells)
	for i := range r.due {
		r.due[i] = r.due[i][:0]
	}
	*r = run{
		reached: r.reached, cells: r.cells, colouredIn: r.colouredIn, ends: r.ends[:0], active: r.active[:0], due: r.due,
		lastColoured: -1, lastReceived: -1, lastDropped: -1,
	}
}

// disseminate cuts off the subtrees under the dead processes, which come in ascending order: none
// comes after one of its descendants.
func (e *Evaluator) disseminate(failed []int) {
	e.participants = e.procs
	for _, f := range failed {
		if e.cells[f].state == inside {
			cut := e.fixed.subtree(int32(f))
			for _, p := range cut {
				e.cells[p].state = missed
				e.reached[p/64] &^= 1 << (p % 64)
			}
			e.participants -= int32(len(cut))
			e.treeMessages++
			e.lost++
		}
		e.cells[f].state = dead
	}
	e.treeMessages += int(e.participants) - 1
}

// next is the first participant from a process on, or the number of processes if there is none.
func (e *Evaluator) next(p int32) int32 {
	i := int(p / 64)
	if i >= len(e.reached) {
		return e.procs
	}
	word := e.reached[i] >> (p % 64) << (p % 64)
	for word == 0 {
		if i++; i == len(e.reached) {
			return e.procs
		}
		word = e.reached[i]
	}
	return min(int32(i*64+bits.TrailingZeros64(word)), e.procs)
}

// findGaps lists the ends of all gaps in ascending order. The root is always
// among them, so that the gap before it on the ring is one like the others.
func (e *Evaluator) findGaps() {
	last := e.newEnd(0)
	first, in := int32(0), false // the gap that isn't over
	before := uint64(0)          // the highest bit of the last word, as the lowest
	for w, reached := range e.reached {
		outside := ^reached
		turns := outside ^ (outside<<1 | before) // where a gap begins or is over
		before = outside >> 63
		for ; turns != 0; turns &= turns - 1 {
			p := int32(w*64 + bits.TrailingZeros64(turns))
			if in = !in; in {
				first = p
				if last.process != p-1 {
					last = e.newEnd(p - 1)
				}
				continue
			}
			gap := p - first
			last.right = e.sideOf(gap, 2*gap, last.right.sent)
			e.colourNear(first, gap)
			if p == e.procs {
				e.ends[0].left = e.sideOf(gap, 2*gap+1, last.left.sent)
				return
			}
			last = e.newEnd(p)
			last.left = e.sideOf(gap, 2*gap+1, last.left.sent)
		}
	}
	if in { // the last process is that of the last bit
		gap := e.procs - first
		last.right = e.sideOf(gap, 2*gap, last.right.sent)
		e.colourNear(first, gap)
		e.ends[0].left = e.sideOf(gap, 2*gap+1, e.ends[0].left.sent)
	}
}

// newEnd adds an end, so far without gaps.
func (e *Evaluator) newEnd(p int32) *end {
	i := len(e.ends)
	if i == cap(e.ends) {
		e.ends = slices.Grow(e.ends, max(i, 64))
	}
	e.ends = e.ends[:i+1]
	x := &e.ends[i]
	x.process = p
	x.left, x.right = e.sideOf(0, 1, (e.regular+1)/2), e.sideOf(0, 0, e.regular/2)
	e.cells[p].state = int32(i + 1)
	return x
}

// sideOf is the side of an end with a gap. The nearest participant there sends to it in a slot, so
// it hears of that if the slot is a regular one.
func (e *Evaluator) sideOf(gap, slot, sent int32) side {
	if slot >= e.regular {
		return side{sent: sent, heard: nothing, nearest: nothing, from: nothing}
	}
	return side{sent: sent, heard: nothing, nearest: gap + 1, from: slot + e.delay}
}

// colourNear colours the live processes of a gap that a correction reaches in a regular slot, and
// counts the others.
func (e *Evaluator) colourNear(first, gap int32) {
	e.maxGap = max(e.maxGap, gap)
	for k := range gap {
		c := &e.cells[first+k]
		if c.state == dead {
			continue
		}
		// From the end on the left, k + 1 away, and from that on the right.
		slot := min(2*k+1, 2*(gap-k-1))
		if slot >= e.regular {
			e.unreached++
			continue
		}
		e.correct(first+k, slot)
	}
}

// correct colours a process by a correction that it receives in a slot.
func (e *Evaluator) correct(p, slot int32) {
	e.cells[p].state = corrected
	e.lastColoured = max(e.lastColoured, slot)
	if e.colouredIn != nil {
		e.colouredIn[p] = slot
	}
}

// endOfRegular finds the last regular slots in which a process received a message or one was
// lost.
func (e *Evaluator) endOfRegular() {
	for slot := e.regular - 1; slot >= 0; slot-- {
		distance := slot/2 + 1
		if slot%2 == 0 {
			distance = -distance
		}
		for p := e.next(0); p < e.procs; p = e.next(p + 1) {
			if e.cells[e.at(p+distance)].state != dead {
				e.lastReceived = slot
				return
			}
			e.lastDropped = max(e.lastDropped, slot)
		}
	}
}

// at returns the process at a position that is less than once round the ring off its numbers.
func (e *Evaluator) at(position int32) int32 {
	switch {
	case position < 0:
		return position + e.procs
	case position >= e.procs:
		return position - e.procs
	}
	return position
}
