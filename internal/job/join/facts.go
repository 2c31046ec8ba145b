package join

import (
	"sync"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// facts are what this process knows of the incarnations of all replica slots. It must tell each
// new spare leader.
type facts struct {
	mu       sync.Mutex
	slots    []fact // by Proc
	healable bool
	untold   []control.Message // what was said while there was no spare leader
	pending  proto.Proc        // the slot filled last, if not all may know its process, or NoProc
}

// fact is what this process knows of one slot.
type fact struct {
	known    proto.Incarnation // the last incarnation that was admitted
	dead     proto.Incarnation // so many incarnations are dead
	excluded proto.Incarnation // so many incarnations are excluded by views
	card     string            // of the incarnation that is known, if that isn't 0
}

func newFacts(procs int) *facts { return &facts{slots: make([]fact, procs), pending: proto.NoProc} }

// admit notes a replacement.
func (f *facts) admit(m control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := &f.slots[m.Proc]; m.Incarnation >= p.known {
		p.known, p.card, f.pending = m.Incarnation, m.Card, m.Proc
	}
}

// died notes a death.
func (f *facts) died(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots[p].dead = max(f.slots[p].dead, incarnation+1)
}

// exclude notes that a view excludes a process.
func (f *facts) exclude(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots[p].excluded = max(f.slots[p].excluded, incarnation+1)
}

// healed notes that all processes know a replacement.
func (f *facts) healed(p proto.Proc, incarnation proto.Incarnation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending == p && f.slots[p].known == incarnation {
		f.pending = proto.NoProc
	}
}

// unfinished is the replacement that may not be known to all. It is returned once.
func (f *facts) unfinished() (p proto.Proc, incarnation proto.Incarnation, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, f.pending = f.pending, proto.NoProc
	if p == proto.NoProc || f.slots[p].dead > f.slots[p].known {
		return p, 0, false
	}
	return p, f.slots[p].known, true
}

// canDonate notes that this process has come to its first safe point.
func (f *facts) canDonate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.healable = true
}

// keep notes a message for the next spare leader, which is told it once.
func (f *facts) keep(m control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.untold = append(f.untold, m)
}

// address is where the replacement in a slot is reached, if there is one.
func (f *facts) address(p proto.Proc) (card mesh.Card, is bool) {
	f.mu.Lock()
	text := f.slots[p].card
	f.mu.Unlock()
	card, err := mesh.ParseCard(text)
	return card, err == nil
}

// tell returns all that a spare leader must know.
func (f *facts) tell() (all []control.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, p := range f.slots {
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
