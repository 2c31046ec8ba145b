package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is hosts on which commands start agents, and a driver of the machine. A command is a
// follower on its head, or on all hosts of a step.
type world struct {
	m     *Machine
	rand  *rand.Rand
	hosts []host
	// What goes on: a list of events, of which any may be the next. Those of one command keep their
	// order.
	events []event
	lost   map[int]string
	runs   map[int]int // commands of its own, for each agent
	most   int         // commands at the same time
	alive  map[int]bool
}

type host struct {
	dead    bool // no command reaches it
	off     int  // so many commands don't reach it
	isolate bool // it reaches no other host
	refuses bool // its follower does
	crashes bool // after its follower was heard
	silent  bool // heads there say nothing of their branches
	up      int
}

type event struct {
	command int
	do      func()
}

func (w *world) later(command int, do func()) { w.events = append(w.events, event{command, do}) }

// step does one event: the first of some command.
func (w *world) step() bool {
	if len(w.events) == 0 {
		return false
	}
	i := w.rand.IntN(len(w.events))
	i = slices.IndexFunc(w.events, func(e event) bool { return e.command == w.events[i].command })
	e := w.events[i]
	w.events = slices.Delete(w.events, i, i+1)
	e.do()
	return true
}

func (w *world) obey(all []Action) {
	for _, a := range all {
		switch a.Kind {
		case Run:
			if len(a.Of) == 1 {
				w.runs[a.Of[0]]++
			}
			w.run(a.Command, a.Of)
		case Lost:
			w.lost[a.Number] = a.Why
		}
	}
}

// reached says whether an attempt to reach a host succeeds.
func (w *world) reached(n int) bool {
	h := &w.hosts[n]
	if h.dead || h.off > 0 {
		h.off--
		return false
	}
	return true
}

// dial has an agent dial the launcher, which takes one of each number.
func (w *world) dial(n int) bool {
	if w.hosts[n].up++; w.hosts[n].up > 1 {
		return false
	}
	w.m.Up(n)
	return true
}

func (w *world) run(id int, of []int) {
	w.alive[id] = true
	w.most = max(w.most, len(w.alive))
	end := func(why string) {
		w.later(id, func() { delete(w.alive, id); w.obey(w.m.Ended(id, why, false)) })
	}
	timer := -id - 1 // goes its own way
	w.later(timer, func() { w.obey(w.m.Late(id)) })
	var there []int
	for _, n := range of {
		if w.reached(n) {
			there = append(there, n)
		}
	}
	if len(there) == 0 {
		end("no route")
		return
	}
	w.later(id, func() {
		branch, wanted := w.m.Greeted(id)
		w.later(timer, func() { w.obey(w.m.Late(id)) })
		if !wanted {
			end("no order")
			return
		}
		crashed := true
		for _, n := range there {
			h := w.hosts[n]
			if h.crashes {
				continue
			}
			crashed = false
			if h.refuses {
				w.later(id, func() { w.obey(w.m.Failed(id, n, "refused", true)) })
				continue
			}
			w.later(id, func() {
				if w.dial(n) {
					w.m.Ready(id, n)
				} else {
					w.obey(w.m.Failed(id, n, "another has come", false))
				}
			})
		}
		if crashed {
			end("crashed")
			return
		}
		for _, n := range branch {
			w.branch(id, of[0], n)
		}
	})
}

// branch has a head start an agent.
func (w *world) branch(id, head, n int) {
	switch h := w.hosts[n]; {
	case w.hosts[head].silent:
	case w.hosts[head].isolate, !w.reached(n), h.crashes:
		w.later(id, func() { w.obey(w.m.Failed(id, n, "not reached from here", false)) })
	case h.refuses:
		w.later(id, func() { w.obey(w.m.Failed(id, n, "refused", true)) })
	default:
		w.later(id, func() {
			if w.dial(n) {
				w.m.Ready(id, n)
			}
		})
	}
}

// Whatever becomes of others, an agent whose host works is started, and one whose host doesn't is
// lost.
func TestEachHostForItself(t *testing.T) {
	for seed := range uint64(3000) {
		for name, rules := range map[string]Rules{
			"heads":    {Heads: true, Attempts: 3},
			"together": {Together: true, Attempts: 3},
			"alone":    {Attempts: 3},
		} {
			r := rand.New(rand.NewPCG(seed, 1))
			w := &world{m: New(rules), rand: r, lost: map[int]string{}, runs: map[int]int{}, alive: map[int]bool{}}
			n := 1 + r.IntN(20)
			if seed%10 == 0 {
				n = 1 + r.IntN(300)
			}
			var numbers []int
			for i := range n {
				numbers = append(numbers, i)
				var h host
				if rate := []float64{0, 0.03, 0.3}[seed%3]; r.Float64() < rate {
					switch r.IntN(6) {
					case 0:
						h.dead = true
					case 1:
						h.off = 1 + r.IntN(2)
					case 2:
						h.isolate = true
					case 3:
						h.refuses = true
					case 4:
						h.crashes = true
					case 5:
						h.silent = true
					}
				}
				w.hosts = append(w.hosts, h)
			}
			w.obey(w.m.Begin(numbers))
			for steps := 0; w.step(); steps++ {
				if steps > 100*n+1000 {
					t.Fatalf("%s, seed %d: it goes on for ever", name, seed)
				}
			}
			for i, h := range w.hosts {
				why, lost := w.lost[i]
				if bad := h.dead || h.refuses || h.crashes; bad != lost || bad == (h.up > 0) {
					t.Fatalf("%s, seed %d: agent %d of %d, %+v: lost %v %q, after %d commands", name, seed, i, n, h, lost, why, w.runs[i])
				}
				if w.runs[i] > 4 {
					t.Fatalf("%s, seed %d: agent %d has had %d commands", name, seed, i, w.runs[i])
				}
			}
		}
	}
}

// 65 hosts and more have heads, each with as many others, and one step is one command.
func TestShape(t *testing.T) {
	for _, c := range []struct {
		rules    Rules
		n, runs  int
		branches string
	}{
		{Rules{Heads: true, Attempts: 3}, 64, 64, "[0]"},
		{Rules{Heads: true, Attempts: 3}, 65, 32, "[1 2]"},
		{Rules{Heads: true, Attempts: 3}, 2048, 32, "[63]"},
		{Rules{Attempts: 3}, 100, 100, "[0]"},
		{Rules{Together: true, Attempts: 3}, 100, 1, "[0]"},
		{Rules{Together: true, Attempts: 3}, 1, 1, "[0]"},
	} {
		m := New(c.rules)
		var numbers []int
		for i := range c.n {
			numbers = append(numbers, i)
		}
		all := m.Begin(numbers)
		var sizes []int
		for _, a := range all {
			branch, wanted := m.Greeted(a.Command)
			if !wanted {
				t.Error("not wanted")
			}
			sizes = append(sizes, len(branch))
		}
		slices.Sort(sizes)
		if got := fmt.Sprint(slices.Compact(sizes)); len(all) != c.runs || got != c.branches {
			t.Errorf("%+v, %d hosts: %d commands with branches of %s", c.rules, c.n, len(all), got)
		}
	}
}

// An agent that was ready and ends is lost, but not because its head has ended.
func TestAfterReady(t *testing.T) {
	m := New(Rules{Heads: true, Attempts: 3})
	var numbers []int
	for i := range 100 {
		numbers = append(numbers, i)
	}
	m.Begin(numbers)
	branch, _ := m.Greeted(0)
	m.Ready(0, 0)
	m.Ready(0, branch[0])
	m.Up(branch[0])
	if all := m.Failed(1, branch[0], "a stranger's word", true); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	all := m.Ended(0, "gone", false)
	if len(all) != len(branch) || all[len(all)-1].Kind != Lost || all[len(all)-1].Number != 0 {
		t.Errorf("%+v", all)
	}
	m.Up(branch[0])
	for _, a := range all[:len(all)-1] {
		if a.Kind != Run || slices.Contains(a.Of, branch[0]) {
			t.Errorf("%+v", a)
		}
	}
}
