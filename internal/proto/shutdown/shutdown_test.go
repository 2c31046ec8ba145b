package shutdown

import (
	"fmt"
	"reflect"
	"testing"

	"banyan/internal/proto"
)

func TestUndisturbed(t *testing.T) {
	var out Actions
	c := New(0, 3)
	c.Finish(&out)
	c.Done(2, &out)
	if len(out) != 0 {
		t.Fatalf("the coordinator acted early: %v", out)
	}
	c.Done(1, &out)
	want := Actions{{SendAllDone, 1}, {SendAllDone, 2}, {Complete, 0}}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("the coordinator did %v, want %v", out, want)
	}

	out = nil
	m := New(1, 3)
	m.Finish(&out)
	m.Finish(&out)
	m.AllDone(0, &out)
	m.AllDone(2, &out)
	if want := (Actions{{SendDone, 0}, {Complete, 0}}); !reflect.DeepEqual(out, want) {
		t.Errorf("process 1 did %v, want %v", out, want)
	}
}

func TestAlone(t *testing.T) {
	var out Actions
	New(0, 1).Finish(&out)
	if want := (Actions{{Complete, 0}}); !reflect.DeepEqual(out, want) {
		t.Errorf("a process alone did %v", out)
	}
}

// TestExhaustive visits every state that up to 4 processes can reach with up to 3 crashes. A
// crash comes after any prefix of any step's actions. Deliveries and calls come in any order,
// and the news of a death at any later time. The dead process's frames under way are delivered
// or lost, and completed processes leave or stay.
func TestExhaustive(t *testing.T) {
	for _, size := range []struct{ n, crashes int }{{1, 1}, {2, 2}, {3, 3}, {4, 3}} {
		t.Run(fmt.Sprintf("n=%d", size.n), func(t *testing.T) {
			e := explorer{n: size.n, crashes: size.crashes, seen: map[world]bool{}}
			e.visit(world{})
			if problem := e.explore(); problem != "" {
				t.Fatal(problem)
			}
			t.Logf("%d states", len(e.seen))
		})
	}
}

// TestExhaustiveWithReplacement replaces one crashed process, as healing does. A donor, which
// doesn't finish meanwhile, has all live processes admit the replacement, one after the other;
// then it is there. If the donor crashes first, the replacement never comes, and all are told
// so.
func TestExhaustiveWithReplacement(t *testing.T) {
	for _, size := range []struct{ n, crashes int }{{2, 1}, {2, 2}, {3, 1}, {3, 3}, {4, 1}} {
		t.Run(fmt.Sprintf("n=%d crashes=%d", size.n, size.crashes), func(t *testing.T) {
			if size.n > 3 && testing.Short() {
				t.Skip("takes a while")
			}
			e := explorer{n: size.n, crashes: size.crashes, replacements: true, seen: map[world]bool{}}
			for slot := range size.n {
				for donor := range size.n {
					if donor != slot {
						e.visit(world{slot: int8(slot), donor: int8(donor)})
					}
				}
			}
			if problem := e.explore(); problem != "" {
				t.Fatal(problem)
			}
			if e.healed == 0 {
				t.Error("nobody ever took another's place")
			}
			t.Logf("%d states, %d with a replacement", len(e.seen), e.healed)
		})
	}
}

const most = 4 // processes in a world

// world is the state of all processes and channels, as a value to compare.
type world struct {
	procs    [most]actor
	channels [most][most]channel

	// Of the replacement: it fills slot, with the help of donor.
	slot, donor int8
	heal        heal
	admitted    [most]bool // by process: has admitted it
}

type heal uint8

const (
	notYet heal = iota
	admitting
	over // the replacement was there, or never will be
)

type actor struct {
	done, gone   [most]bool // as in Machine
	incarnations [most]bool // incarnation 1
	coordinator  int8
	complete     bool
	state        state
	told         [most]bool // has been told that this one is gone
}

type state uint8

const (
	running state = iota
	finished
	left
	crashed
)

// channel holds the frames under way, oldest first.
type channel struct {
	frames [4]ActionKind
	count  int8
}

type explorer struct {
	n, crashes   int
	replacements bool
	healed       int
	seen         map[world]bool
	todo         []world
	problem      string
}

func (e *explorer) explore() string {
	for len(e.todo) > 0 && e.problem == "" {
		w := e.todo[len(e.todo)-1]
		e.todo = e.todo[:len(e.todo)-1]
		if !e.expand(w) {
			for p := range e.n {
				if a := &w.procs[p]; a.state < left && !a.complete {
					e.problem = fmt.Sprintf("process %d waits for ever in %+v", p, w)
				}
			}
		}
	}
	return e.problem
}

func (e *explorer) visit(w world) {
	if !e.seen[w] {
		e.seen[w] = true
		e.todo = append(e.todo, w)
	}
}

// expand visits all states one step away. It reports whether any of the steps is bound to come:
// crashes aren't, nor is leaving.
func (e *explorer) expand(w world) bool {
	bound := false
	down := 0
	for p := range e.n {
		if w.procs[p].state == crashed {
			down++
		}
	}
	mayCrash := down+w.replaced() < e.crashes
	if e.replacements {
		bound = e.heal(w)
	}
	for p := range e.n {
		a := &w.procs[p]
		if a.state >= left {
			for q := range e.n {
				if w.procs[q].state >= left || a.told[q] || q == p {
					continue
				}
				if a.state == left && w.channels[p][q].count > 0 {
					continue // the goodbye comes after the other frames
				}
				bound = true
				next := w
				next.procs[p].told[q] = true
				gone := func(m *Machine, out *Actions) { m.Gone(proto.Proc(p), out) }
				e.step(next, q, mayCrash, gone)
				if w.channels[p][q].count > 0 {
					next.channels[p][q] = channel{}
					e.step(next, q, mayCrash, gone)
				}
			}
			continue
		}
		if mayCrash {
			next := w
			e.end(&next, p, crashed)
			e.visit(next)
		}
		if a.complete {
			next := w
			e.end(&next, p, left)
			e.visit(next)
		}
		if a.state == running && (w.heal != admitting || p != int(w.donor)) {
			bound = true
			next := w
			next.procs[p].state = finished
			e.step(next, p, mayCrash, (*Machine).Finish)
		}
		for q := range e.n {
			c := w.channels[q][p]
			if c.count == 0 {
				continue
			}
			bound = true
			next := w
			kind := next.channels[q][p].pop()
			e.step(next, p, mayCrash, func(m *Machine, out *Actions) {
				if kind == SendDone {
					m.Done(proto.Proc(q), out)
				} else {
					m.AllDone(proto.Proc(q), out)
				}
			})
		}
	}
	return bound
}

// replaced is how many processes have crashed and were replaced.
func (w *world) replaced() int {
	if w.heal == over && w.procs[w.slot].incarnations[w.slot] {
		return 1
	}
	return 0
}

// heal visits the states that the replacement's arrival leads to, and reports whether there is
// one.
func (e *explorer) heal(w world) bool {
	donor, slot := &w.procs[w.donor], int(w.slot)
	switch {
	case w.heal == notYet && w.procs[slot].state == crashed && donor.state == running && w.procs[slot].told[w.donor]:
		next := w
		next.heal = admitting
		e.visit(next)
		return false // it needn't
	case w.heal != admitting:
		return false
	case donor.state >= left:
		// The replacement ends, and those that have admitted it are told.
		for q := range e.n {
			w.procs[slot].told[q] = w.procs[slot].told[q] && !w.admitted[q]
		}
		w.heal, w.admitted = over, [most]bool{}
		e.visit(w)
		return true
	}
	all := true
	for q := range e.n {
		if q == slot || w.admitted[q] || w.procs[q].state >= left {
			continue
		}
		all = false
		next := w
		next.admitted[q] = true
		next.procs[slot].told[q] = true    // this tells of the death, too
		next.channels[slot][q] = channel{} // the transport drops what is left
		e.step(next, q, false, func(m *Machine, out *Actions) { m.Admit(proto.Proc(slot), 1, out) })
	}
	if all {
		fresh := actor{}
		fresh.gone = donor.gone
		gone := make([]bool, e.n)
		copy(gone, fresh.gone[:])
		incarnations := make([]proto.Incarnation, e.n)
		incarnations[slot] = 1
		freeze(Join(proto.Proc(slot), incarnations, gone), &fresh)
		for q := range e.n {
			if q != slot {
				w.procs[q].told[slot] = fresh.gone[q]
			}
		}
		w.procs[slot] = fresh
		w.heal, w.admitted = over, [most]bool{}
		e.healed++
		e.visit(w)
	}
	return true
}

func incarnation(second bool) proto.Incarnation {
	if second {
		return 1
	}
	return 0
}

// step lets a process act. Afterwards the process goes on, or it crashes after any prefix of
// its actions.
func (e *explorer) step(w world, p int, mayCrash bool, act func(*Machine, *Actions)) {
	var out Actions
	m := e.thaw(w.procs[p], p)
	act(m, &out)
	freeze(m, &w.procs[p])
	for i, a := range out {
		if mayCrash {
			next := w
			e.end(&next, p, crashed)
			e.visit(next)
		}
		if a.Kind == Complete {
			e.checkComplete(&w, p)
			if i != len(out)-1 {
				e.problem = "Complete wasn't the last action"
			}
			continue
		}
		if w.procs[a.To].state < left {
			w.channels[p][a.To].push(a.Kind)
		}
	}
	e.visit(w)
}

func (e *explorer) checkComplete(w *world, p int) {
	for q := range e.n {
		if w.procs[q].state == running {
			e.problem = fmt.Sprintf("process %d completes though %d hasn't finished in %+v", p, q, *w)
		}
	}
}

// end takes a process out of the world. Frames under way to it are lost.
func (e *explorer) end(w *world, p int, s state) {
	told := w.procs[p].told
	w.procs[p] = actor{state: s, told: told}
	for q := range e.n {
		w.channels[q][p] = channel{}
	}
}

func (e *explorer) thaw(a actor, self int) *Machine {
	m := New(proto.Proc(self), e.n)
	for q := range e.n {
		m.done[q], m.gone[q], m.incarnations[q] = a.done[q], a.gone[q], incarnation(a.incarnations[q])
		if a.done[q] || a.gone[q] {
			m.waiting--
		}
	}
	m.coordinator = proto.Proc(a.coordinator)
	m.complete = a.complete
	return m
}

func freeze(m *Machine, a *actor) {
	copy(a.done[:], m.done)
	copy(a.gone[:], m.gone)
	for q, l := range m.incarnations {
		a.incarnations[q] = l > 0
	}
	a.coordinator = int8(m.coordinator)
	a.complete = m.complete
}

func (c *channel) push(k ActionKind) {
	c.frames[c.count] = k // panics if the protocol sends more than is possible
	c.count++
}

func (c *channel) pop() ActionKind {
	k := c.frames[0]
	c.count--
	copy(c.frames[:], c.frames[1:])
	c.frames[c.count] = 0
	return k
}

// A frame that a replacement receives before it knows which processes are there counts, unless
// it is about a predecessor.
func TestRejoin(t *testing.T) {
	var out Actions
	m := Join(0, []proto.Incarnation{1, 1, 1, 1}, make([]bool, 4))
	for p := range 3 {
		m.Done(proto.Proc(p+1), &out)
	}
	m = m.Rejoin([]proto.Incarnation{1, 1, 2, 1}, []bool{false, false, false, true})
	if m.Finish(&out); len(out) > 0 {
		t.Fatalf("it did %v, while process 2 hasn't finished", out)
	}
	m.Done(2, &out)
	if want := (Actions{{SendAllDone, 1}, {SendAllDone, 2}, {Complete, 0}}); !reflect.DeepEqual(out, want) {
		t.Errorf("it did %v, want %v", out, want)
	}
}
