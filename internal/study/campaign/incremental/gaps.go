package incremental

import "math/bits"

// run is what changes from run to run.
type run struct {
	// reached has a bit for each participant; those beyond the last process are
	// set as well.
	reached []uint64
	cells   []cell
	ends    []end
	active  []int32  // ends that may still send, in the order of their numbers
	due     [][]news // by slot: what is heard from its beginning on

	treeMessages, played    int
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
		reached: r.reached, cells: r.cells, ends: r.ends[:0], active: r.active[:0], due: r.due,
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
			e.treeMessages++ // lost
		}
		e.cells[f].state = dead
	}
	e.treeMessages += int(e.participants) - 1
}

// next is the first process from p on that is a participant or not, as wanted by
// mask: 0 or all ones; or the number of processes if there is none.
func (e *Evaluator) next(p int32, mask uint64) int32 {
	i := int(p / 64)
	if i >= len(e.reached) {
		return e.procs
	}
	word := (e.reached[i] ^ mask) >> (p % 64) << (p % 64)
	for word == 0 {
		if i++; i == len(e.reached) {
			return e.procs
		}
		word = e.reached[i] ^ mask
	}
	return min(int32(i*64+bits.TrailingZeros64(word)), e.procs)
}

const (
	participant = 0
	outsider    = ^uint64(0)
)

// findGaps lists the ends of all gaps in ascending order. The root is always
// among them, so that the gap before it on the ring is one like the others.
func (e *Evaluator) findGaps() {
	e.ends = append(e.ends, end{})
	last := &e.ends[0]
	for from := int32(0); ; {
		first := e.next(from, outsider)
		if first == e.procs {
			break
		}
		beyond := e.next(first, participant)
		gap := beyond - first
		e.maxGap = max(e.maxGap, gap)
		if last.process != first-1 {
			e.ends = append(e.ends, end{process: first - 1})
			last = &e.ends[len(e.ends)-1]
		}
		last.right.gap = gap
		if beyond == e.procs {
			e.ends[0].left.gap = gap
			break
		}
		e.ends = append(e.ends, end{process: beyond})
		last = &e.ends[len(e.ends)-1]
		last.left.gap = gap
		from = beyond
	}
	for i := range e.ends {
		x := &e.ends[i]
		e.cells[x.process].state = int32(i + 1)
		x.left.sent, x.right.sent = (e.regular+1)/2, e.regular/2
		e.hearRegular(i, &x.right, 2*x.right.gap, false)
		e.hearRegular(i, &x.left, 2*x.left.gap+1, true)
		e.active = append(e.active, int32(i))
	}
}

// hearRegular notes what the i-th end hears on one side in a regular slot, the
// one in which the nearest participant sends to it, if that is one.
func (e *Evaluator) hearRegular(i int, s *side, slot int32, left bool) {
	s.heard, s.nearest = nothing, nothing
	if slot >= e.regular {
		return
	}
	s.nearest = s.gap + 1
	if slot+e.delay <= e.regular {
		s.heard = s.nearest
		return
	}
	e.expect(slot+e.delay, news{int32(i), s.nearest, left})
}

// colourNear colours the live processes that a correction reaches in a regular
// slot, and counts the others.
func (e *Evaluator) colourNear() {
	for i := range e.ends {
		x := &e.ends[i]
		for k := int32(1); k <= x.right.gap; k++ {
			c := &e.cells[x.process+k]
			if c.state == dead {
				continue
			}
			// From the end on the left, k away, and from that on the right.
			slot := min(2*k-1, 2*(x.right.gap-k))
			if slot >= e.regular {
				e.unreached++
				continue
			}
			c.state = corrected
			e.lastColoured = max(e.lastColoured, slot)
		}
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
		for p := e.next(0, participant); p < e.procs; p = e.next(p+1, participant) {
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
