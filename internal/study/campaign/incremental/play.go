package incremental

import "math"

// end is a participant next to a gap, or to two.
type end struct {
	process     int32
	left, right side
}

// side is what a participant knows of one side of the ring.
type side struct {
	sent    int32 // how far its corrections went
	heard   int32 // the distance of the nearest it has heard from in an irregular slot, or nothing
	nearest int32 // the nearest it has received from, whether handled or not
	// If that was in a regular slot, from is the slot from which on it bears on sends.
	from int32
}

// nothing is later and farther than all.
const nothing = math.MaxInt32

// open says whether more corrections are to go to this side in a slot.
func (s *side) open(slot int32) bool {
	return s.sent < s.heard && (slot < s.from || s.sent < s.nearest)
}

// news is that the end with an index hears from a distance, on its left or right.
type news struct {
	end, distance int32
	left          bool
}

func (e *Evaluator) expect(slot int32, n news) {
	for int(slot) >= len(e.due) {
		e.due = append(e.due, nil)
	}
	e.due[slot] = append(e.due[slot], n)
}

// play goes through the slots after the regular ones, until all are done.
func (e *Evaluator) play() {
	slot := e.regular
	if slot == e.delay {
		e.playAll(slot)
		slot++
	}
	e.tell(slot)
	for i := range e.ends {
		if e.send(slot, &e.ends[i]) {
			e.active = append(e.active, int32(i))
		}
	}
	for slot++; len(e.active) > 0; slot++ {
		e.tell(slot)
		still := e.active[:0]
		for _, i := range e.active {
			if e.send(slot, &e.ends[i]) {
				still = append(still, i)
			}
		}
		e.active = still
	}
}

// playAll plays slot D where it is irregular: all participants send.
func (e *Evaluator) playAll(slot int32) {
	e.tell(slot)
	for p := e.next(0); p < e.procs; p = e.next(p + 1) {
		if i := e.cells[p].state; i > 0 {
			e.send(slot, &e.ends[i-1])
			continue
		}
		distance := (e.regular+1)/2 + 1
		e.deliver(slot, p, e.at(p-distance), distance, true)
	}
}

// tell updates the ends with what they have handled by the beginning of a slot.
func (e *Evaluator) tell(slot int32) {
	if int(slot) >= len(e.due) {
		return
	}
	for _, n := range e.due[slot] {
		e.ends[n.end].side(n.left).heard = n.distance // never farther than before
	}
}

func (x *end) side(left bool) *side {
	if left {
		return &x.left
	}
	return &x.right
}

// send sends an end's next correction: left first, then to the less advanced side, at most one to
// each process in all. It returns false if the end will never send again.
func (e *Evaluator) send(slot int32, x *end) bool {
	if x.left.sent+x.right.sent >= e.procs {
		return false
	}
	left, right := x.left.open(slot), x.right.open(slot)
	switch {
	case left && (!right || x.left.sent <= x.right.sent):
		x.left.sent++
		e.deliver(slot, x.process, e.at(x.process-x.left.sent), x.left.sent, true)
	case right:
		x.right.sent++
		e.deliver(slot, x.process, e.at(x.process+x.right.sent), x.right.sent, false)
	default:
		return false
	}
	return true
}

// deliver takes a correction, sent to the left or right, to its receiver. Those
// of one slot come in the order of their senders.
func (e *Evaluator) deliver(slot, from, to, distance int32, left bool) {
	e.played++
	c := &e.cells[to]
	if c.state == dead {
		e.lost++
		e.lastDropped = max(e.lastDropped, slot)
		if e.observe != nil {
			e.observe(slot, -1, from, to, left)
		}
		return
	}
	received := max(slot, c.free)
	c.free = received + 1
	e.lastReceived = max(e.lastReceived, received)
	if e.observe != nil {
		e.observe(slot, received, from, to, left)
	}
	switch {
	case c.state == missed:
		e.correct(to, received)
		e.unreached--
	case c.state > 0:
		// A message sent to the left comes from the right. One that comes from farther away than
		// an earlier one changes nothing.
		if s := e.ends[c.state-1].side(!left); distance < s.nearest {
			s.nearest = distance
			e.expect(received+e.delay, news{c.state - 1, distance, !left})
		}
	}
}
