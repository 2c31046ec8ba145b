package replica

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// This file is what the world does where a slot is filled anew. The launcher's
// part is reliable and done in an instant; that of the processes travels in frames.

// deaths is how many incarnations of a process are dead.
func (n *node) deaths() uint32 {
	if n.status == crashed || n.status == doomed {
		return n.incarnation + 1
	}
	return n.incarnation
}

// mayHeal says whether donor could begin to fill a slot now: it is at a safe
// point, not suspected yet, and no other healing is under way.
func (w *world) mayHeal(donor, slot proto.Proc) bool {
	d := w.nodes[donor]
	return w.heals > 0 && w.healing == proto.NoProc && w.nodes[slot].status == crashed &&
		!slices.ContainsFunc(d.m.peers, func(p peers) bool { return p.left != 0 }) &&
		w.layout.Rank(donor) == w.layout.Rank(slot) && w.donors&(1<<donor) != 0 &&
		d.status == running && !d.paused && d.m.healing.idle() &&
		!slices.ContainsFunc(d.inbox, func(i item) bool { return i.pulled && !i.complete }) &&
		!d.held && !slices.ContainsFunc(d.open, func(o open) bool { return o.rendezvous })
}

// heal starts a process for a slot and lets its donor begin.
func (w *world) heal(donor, slot proto.Proc, out *Actions) {
	w.heals--
	w.healed = true
	w.healing = slot
	old := w.nodes[slot]
	w.nodes[slot] = &node{
		status: joiner, incarnation: old.incarnation + 1, donor: donor,
		told:  make([]uint32, len(w.nodes)),
		m:     New(Config{Layout: w.layout, Self: slot, Mirror: w.mirror, Lead: w.lead}),
		state: state{got: make([]int, len(old.got))},
	}
	// The launcher tells it who has been replaced before.
	for p, n := range w.nodes {
		w.nodes[slot].told[p] = n.incarnation
	}
	w.nodes[donor].paused = true
	if !w.nodes[donor].m.Donate(slot, old.incarnation+1, out) {
		panic("replica: a donor at a safe point declines")
	}
	w.bug.donated(w.nodes[donor], out)
}

// handOver takes the state of a donor and sends it.
func (w *world) handOver(donor, newcomer proto.Proc, out *Actions) {
	d := w.nodes[donor]
	s := d.state
	s.inbox, s.got, s.open = slices.Clone(d.inbox), slices.Clone(d.got), nil
	for i := range s.inbox {
		if !s.inbox[i].complete {
			s.inbox[i].from, s.inbox[i].spare = proto.NoProc, 0
		}
	}
	for m := range d.m.Kept() {
		s.open = append(s.open, open{int(m.User), false})
	}
	s.machine = d.m.AppendState(nil, out)
	d.paused = false
	w.send(donor, newcomer, frame{kind: frameState, state: &s})
}

// join makes a joiner a process like the others.
func (w *world) join(at proto.Proc, f frame, out *Actions) error {
	n := w.nodes[at]
	n.state = *f.state
	n.inbox, n.got, n.open = slices.Clone(n.inbox), slices.Clone(n.got), slices.Clone(n.open)
	n.machine = nil
	ids := n.open
	err := n.m.Restore(f.state.machine, func(m Message) *Message {
		m.User, m.Total = uint64(ids[0].id), 1
		ids = ids[1:]
		return &m
	}, out)
	if err != nil {
		return fmt.Errorf("%v: %w", at, err)
	}
	if len(ids) > 0 {
		return fmt.Errorf("%v: %d messages were kept that aren't restored", at, len(ids))
	}
	n.status = running
	n.m.Commit(out)
	w.bug.committed(*out)
	return nil
}
