package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/varint"
)

// The replacement of dead replicas in leader order. A replacement runs to its first safe point as
// one that follows: what its donor's program was told up to there is part of the donor's log. At
// the safe point it takes over what the donor's machine knows, and the tail of the leader's log:
// the decisions that the donor knows and its program hasn't come to. From there on it follows, or
// leads when its turn has come.
//
// Ranks of which several threads communicate aren't healed: their log would have to say how their
// sends and receives before the first safe point were ordered.
//
// A donor first waits until replication has all that its program has sent (OutputSent). While a
// replacement joins, what other replicas of the rank send waits if it depends on later decisions.

// noteAnswer notes in the log what the program was told.
func (p *Process) noteAnswer(q Question, word uint64) {
	if l := p.healing.history; l.notes() && p.healing.replay == nil && !p.order.threaded {
		l.decided.answer(q, word)
		l.exceeded()
	}
}

// noteMatch notes in the log what a receive takes.
func (p *Process) noteMatch(number uint64, m matched) {
	if l := p.healing.history; l.notes() && p.healing.replay == nil && !p.order.threaded {
		l.decided.match(number, m)
		l.exceeded()
	}
}

// notes tells whether there is a log that goes on.
func (l *history) notes() bool { return l != nil && !l.frozen && !l.over }

// spent tells whether the program has come to the end of what was decided.
func (o *ordered) spent() bool { return o.at.script.empty() && len(o.at.matches) == 0 }

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
	return varint.AppendBytes(varint.Append(b, begun, o.at.posted), o.tail())
}

// tail is what was decided, and the program hasn't come to.
func (o *ordered) tail() []byte {
	var d decisions
	for _, l := range o.at.script.lines[o.at.script.begin:] {
		if l.asked == theEnd {
			d.end()
			continue
		}
		if l.word == 0 {
			d.noneOf(l.asked, l.times)
		} else {
			d.answer(l.asked, l.word)
		}
	}
	numbers := make([]uint64, 0, len(o.at.matches))
	for n := range o.at.matches { //banyan:maporder sorted below
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		d.match(n, o.at.matches[n])
	}
	return d.take()
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
	o.at.posted = r.Uint()
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
