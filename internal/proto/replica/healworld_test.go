package replica

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// This file is the part of the world that fills a slot anew. The launcher's part is reliable
// and instantaneous; the processes' part travels in frames.

// deaths is how many incarnations of a process are dead.
func (n *node) deaths() proto.Incarnation {
	if n.status == crashed || n.status == doomed {
		return n.incarnation + 1
	}
	return n.incarnation
}

// mayHeal says whether donor could begin to fill a slot now: it is at a safe
// point, not suspected yet, and no other slot of its rank is being filled.
func (w *world) mayHeal(donor, slot proto.Proc) bool {
	d := w.nodes[donor]
	return w.moreHeals > 0 && w.healing&w.replicasOf(slot) == 0 && w.nodes[slot].status == crashed &&
		!slices.ContainsFunc(d.m.peers, func(p peers) bool { return p.left != 0 }) &&
		w.layout.Rank(donor) == w.layout.Rank(slot) && w.donors&(1<<donor) != 0 &&
		d.status == running && !d.paused && d.m.healing.phase == noPhase && d.m.peers[d.m.rank].joining == 0 &&
		!slices.ContainsFunc(d.inbox, func(i item) bool { return i.pulled && !i.complete }) &&
		!d.throttled && !slices.ContainsFunc(d.open, func(o open) bool { return o.rendezvous })
}

// replicasOf are the processes of a process's rank.
func (w *world) replicasOf(p proto.Proc) (set uint64) {
	for k := range w.layout.Degree(w.layout.Rank(p)) {
		set |= 1 << w.layout.Proc(w.layout.Rank(p), k)
	}
	return set
}

// begin starts a process for a slot. The process waits for the state of a donor.
func (w *world) begin(donor, slot proto.Proc) (incarnation proto.Incarnation) {
	w.moreHeals--
	w.healed = true
	w.healing |= 1 << slot
	n := &node{
		status: joiner, incarnation: w.nodes[slot].incarnation + 1, donor: donor,
		told:  make([]proto.Incarnation, len(w.nodes)),
		m:     New(Config{Layout: w.layout, Self: slot, Mirror: w.mirror, MaxSkew: w.skew, Joins: true}),
		state: state{got: make([]int, w.contexts*w.layout.Ranks())},
	}
	// The launcher tells it which processes have been replaced before.
	for p, other := range w.nodes {
		n.told[p] = other.incarnation
	}
	n.told[slot] = n.incarnation
	if w.memo != nil {
		n = w.memo.node(n)
	}
	w.nodes[slot] = n
	return n.incarnation
}

// handOver takes the state of a donor and sends it.
func (r *reaction) handOver(replacement proto.Proc, out *Actions) {
	d := r.n
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
	r.send(replacement, frame{kind: frameState, state: &s})
}

// join makes a joiner an ordinary process.
func (r *reaction) join(f frame, out *Actions) error {
	n := r.n
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
		return fmt.Errorf("%v: %w", r.at, err)
	}
	if len(ids) > 0 {
		return fmt.Errorf("%v: %d messages were kept that aren't restored", r.at, len(ids))
	}
	n.status = running
	n.m.Commit(out)
	r.bug.committed(*out)
	return nil
}
