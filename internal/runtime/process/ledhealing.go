package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/passive"
	"banyan/internal/varint"
)

// The replacement of dead replicas in leader order. A replacement runs to its first safe point as
// one that follows: what its donor's program was told up to there (prefix.go) is part of the
// donor's log. At the safe point it takes over what the donor's machine knows, and the tail of the
// leader's log: the decisions that the donor knows and its program hasn't come to. From there on it
// follows, or leads when its turn has come.
//
// Where threads are ordered, the log and the tail say of each decision whose it is, and in which
// order threads act. At a safe point only one thread communicates, and none waits for its turn: the
// others have carried out what the log has of them.
//
// A donor first waits until replication has all that its program has sent (OutputSent). While a
// replacement joins, what other replicas of the rank send waits if it depends on later decisions.

// spent tells whether the program has come to the end of what was decided.
func (o *ordered) spent() bool {
	for _, t := range o.threads {
		if !t.script.empty() || len(t.matches) > 0 {
			return false
		}
	}
	for _, t := range o.turns { //banyan:maporder a conjunction
		if t.begin < len(t.queue) {
			return false
		}
	}
	for _, m := range o.passive { //banyan:maporder a conjunction
		if !m.Empty() {
			return false
		}
	}
	return true
}

// awaitsState tells whether this process is a replacement that hasn't its donor's state yet: it
// hears of deaths of siblings when it has.
func (p *Process) awaitsState() bool {
	j := p.healing.joining
	return j != nil && !j.committed
}

// orderAdmit notes that a replacement for a replica of this rank is about to get a donor's state.
func (p *Process) orderAdmit(replacement, donor proto.Proc) {
	if l, o := p.cfg.Layout, p.order; o != nil && l.Rank(replacement) == p.rank && l.Rank(donor) == p.rank && !p.awaitsState() {
		o.m.Admit(l.Replica(replacement), l.Replica(donor), &o.out)
		p.runOrder()
	}
}

// appendOrder appends what a replacement has to know of what was decided.
func (p *Process) appendOrder(b []byte) []byte {
	o := p.order
	if o == nil {
		return b
	}
	b = varint.AppendBytes(b, o.m.AppendState(nil, p.cfg.Layout.Replica(p.healing.donation.replacement)))
	begun := uint64(0)
	if o.begun {
		begun = 1
	}
	b = varint.Append(b, begun, uint64(len(o.threads)))
	for _, t := range o.threads {
		b = varint.Append(b, uint64(t.id), t.posted)
	}
	return varint.AppendBytes(b, o.tail())
}

// tail is what was decided, and the program hasn't come to.
func (o *ordered) tail() []byte {
	var d decisions
	for _, t := range o.threads {
		d.on(t.id)
		for _, l := range t.script.lines[t.script.begin:] {
			switch {
			case l.asked == theEnd: // it comes last
			case l.word == 0:
				d.noneOf(l.asked, l.times)
			default:
				d.answer(l.asked, l.word)
			}
		}
		for _, n := range sorted(t.matches) {
			d.match(n, t.matches[n])
		}
	}
	for _, context := range sorted(o.turns) {
		t := o.turns[context]
		for _, next := range t.queue[t.begin:] {
			d.on(next.thread)
			d.turns(context, next.times)
		}
	}
	for _, context := range sorted(o.passive) {
		o.passive[context].Each(func(s passive.Step, times uint64) { d.step(context, s, times) })
	}
	if o.through {
		d.end()
	}
	return d.take()
}

func sorted[V any](m map[uint64]V) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m { //banyan:maporder sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// restoreOrder takes over what a donor knows of what was decided.
func (p *Process) restoreOrder(r *varint.Reader) error {
	o := p.order
	if o == nil {
		return nil
	}
	machine := r.Bytes()
	if r.Uint() == 1 {
		o.begun, p.watched = true, true
	}
	for range r.Count() {
		id := ThreadID(r.Uint())
		o.thread(id).posted = r.Uint()
	}
	err := o.m.Restore(machine)
	p.learn(r.Bytes())
	return err
}

// orderCommit makes a replacement, which is a replica now, take part in what is decided.
func (p *Process) orderCommit() {
	o := p.order
	if o == nil {
		return
	}
	for k := range p.cfg.Layout.Degree(p.rank) {
		switch q := p.cfg.Layout.Proc(p.rank, k); p.peers[q].state {
		case peerDead:
			o.m.Dead(k, &o.out)
		case peerLeft:
			o.m.Left(k, &o.out)
		}
	}
	o.m.Commit(&o.out)
	p.runOrder()
}
