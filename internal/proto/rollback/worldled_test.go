package rollback

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
)

// Leader order in the world. Package order sees to it that replicas of a rank decide the same, so
// that is given here. What matters to snapshots:
//
//   - A rank decides something before its first safe point, which the registered state says
//     nothing of: a program that has decided otherwise can't go on from a snapshot. It also sees
//     what is here, and waits for that when it repeats its beginning.
//   - What a program sends waits until its siblings know what was decided.
//   - A program may see a message before it receives it (a probe). Its sender may decide otherwise
//     when it goes on from the snapshot, and not send it.

// ledState is what leader order adds to a process.
type ledState struct {
	choice  int  // what was decided before the first safe point; 0: nothing yet
	first   int  // the last message that the program has seen before the first safe point
	seen    int  // the last message that the program has seen
	waiting int  // messages that wait for siblings: the last ones that were sent
	coming  bool // the program has come to a safe point or to its end, and waits for them
}

var errSetUp = errors.New("before its first safe point a program has decided otherwise than before the snapshot")

// gather says that ranks are in leader order, to an epoch that starts.
func (w *world) gather() {
	if !w.led {
		return
	}
	w.coordinator.Led()
	for _, p := range w.procs {
		if w.bug != ungathered {
			p.Gather()
		}
	}
}

// setUp is what the part of a process says of what comes before its first safe point. It is known
// when the part is here.
func (w *world) setUp(i int) (choice, first int) {
	if p := w.procs[i]; p.Loads() && p.Here() && w.bug != unprefixed {
		if x, ok := w.stores[p.home].Get(proto.Proc(i), w.begins); ok {
			return x.choice, x.first
		}
	}
	return 0, 0
}

// mayBegin says whether a program may do what comes before its first safe point. One that repeats
// that waits for what it had seen. A replica that follows waits for what is decided.
func (w *world) mayBegin(i int) bool {
	p := w.procs[i]
	if !w.led || p.step > 0 {
		return true
	}
	if p.Loads() && !p.Here() {
		return false
	}
	choice, first := w.setUp(i)
	return len(p.held) >= first && (choice > 0 || w.decided[w.rank(i)] > 0 || w.leads(i))
}

// mustDecide says whether nothing says what comes before the first safe point.
func (w *world) mustDecide(i int) bool {
	choice, _ := w.setUp(i)
	return w.led && w.procs[i].step == 0 && choice == 0 && w.decided[w.rank(i)] == 0
}

// leads says whether a process is the first live one of its rank.
func (w *world) leads(i int) bool {
	for _, q := range w.of(w.rank(i)) {
		if w.procs[q].alive {
			return q == i
		}
	}
	return false
}

// follow has a program do what was decided, and see what is here.
func (w *world) follow(i int) error {
	p := w.procs[i]
	if !w.led {
		return nil
	}
	p.seen = max(p.seen, p.received+len(p.held))
	if p.step > 0 {
		return nil
	}
	if p.Loads() {
		if _, ok := w.stores[p.home].Get(proto.Proc(i), w.begins); !ok {
			return fmt.Errorf("%w: process %d begins without its part", errHalf, i)
		}
	}
	p.choice, p.first = w.setUp(i)
	if p.choice == 0 {
		p.choice, p.first = w.decided[w.rank(i)], p.seen
	}
	return nil
}

// decide decides what comes before the first safe point of a rank.
func (w *world) decide(i, choice int) error {
	w.decided = append([]int(nil), w.decided...)
	w.decided[w.rank(i)] = choice
	return w.step(i)
}

// release sends what waits for siblings.
func (w *world) release(i int) error {
	w.output(i)
	if w.procs[i].coming {
		return w.come(i)
	}
	return nil
}
