package join

import (
	"sync"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// facts are what this process knows of the others' lives and must tell each new spare leader.
type facts struct {
	mu       sync.Mutex
	places   []fact
	healable bool
	untold   []control.Message // what no spare leader has heard, as there was none
	pending  proto.Proc        // who was admitted last, and isn't known to be healed; NoProc if nobody
}

// fact is what is known of one place.
type fact struct {
	known    proto.Incarnation // the last incarnation that was admitted
	dead     proto.Incarnation // so many are dead
	excluded proto.Incarnation // so many are excluded by views
	card     string            // of the one that is known, if not 0
}

func newFacts(procs int) *facts { return &facts{places: make([]fact, procs), pending: proto.NoProc} }

// admit notes a replacement.
func (f *facts) admit(m control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := &f.places[m.Proc]; m.Incarnation >= p.known {
		p.known, p.card, f.pending = m.Incarnation, m.Card, m.Proc
	}
}

// died notes a death.
func (f *facts) died(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places[p].dead = max(f.places[p].dead, incarnation+1)
}

// exclude notes that a view goes without a process.
func (f *facts) exclude(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places[p].excluded = max(f.places[p].excluded, incarnation+1)
}

// healed notes that all know a replacement.
func (f *facts) healed(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending == p && f.places[p].known == incarnation {
		f.pending = proto.NoProc
	}
}

// unfinished is the replacement that not all are known to know, once.
func (f *facts) unfinished() (p proto.Proc, incarnation proto.Incarnation, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, f.pending = f.pending, proto.NoProc
	if p == proto.NoProc || f.places[p].dead > f.places[p].known {
		return p, 0, false
	}
	return p, f.places[p].known, true
}

// canDonate notes that this process has come to its first safe point.
func (f *facts) canDonate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.healable = true
}

// keep notes what the next spare leader is to be told, once.
func (f *facts) keep(m control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.untold = append(f.untold, m)
}

// address is where a replacement is, if the place has one.
func (f *facts) address(p proto.Proc) (card mesh.Card, is bool) {
	f.mu.Lock()
	text := f.places[p].card
	f.mu.Unlock()
	card, err := mesh.ParseCard(text)
	return card, err == nil
}

// tell gives all of it.
func (f *facts) tell() (all []control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.places {
		say := func(t control.Type, incarnations proto.Incarnation) {
			if incarnations > 0 {
				all = append(all, control.Message{Type: t, Proc: proto.Proc(i), Incarnation: incarnations - 1})
			}
		}
		if p.known > 0 {
			say(control.Knows, p.known+1)
		}
		say(control.Eviction, p.dead)
		say(control.Excluded, p.excluded)
	}
	if f.healable {
		all = append(all, control.Message{Type: control.Healable})
	}
	all, f.untold = append(all, f.untold...), nil
	return all
}
