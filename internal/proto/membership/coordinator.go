package membership

import (
	"slices"

	"banyan/internal/proto"
)

// lead is what a coordinator knows of its work on the next view. A
// coordinator that follows another first collects what has been accepted, under
// a takeover of its own; the first coordinator of a view needn't.
type lead struct {
	position  uint32
	takeover  uint32
	attempt   uint32
	collected bool        // all have promised this takeover
	adopted   *View       // what they had accepted, if anything: no other may be proposed
	skip      []Departure // the members left out of the present round
	busy      bool        // a round is under way
	stalled   bool        // no round can be: there is no quorum
	until     proto.Time  // when patience ends
	beginAt   proto.Time  // when gathering ends
}

func (l *lead) reset(v *View, self Member) {
	*l = lead{position: uint32(v.Position(self)), until: proto.Never, beginAt: proto.Never}
	l.collected = l.position == 0
}

// drive does the coordinator's duty, if it is this process's and there is
// something to change. It is called after every event.
func (m *Machine) drive(now proto.Time, out *Actions) {
	if m.over || m.view == nil {
		return
	}
	if c, _ := m.Coordinator(); c != m.cfg.Self {
		m.lead.busy = false
		return
	}
	if m.lead.busy && m.round.ballot == m.ballot() && !m.lost(m.lead.skip) {
		return // wait for the answers
	}
	switch l := &m.lead; {
	case !m.changes() || l.beginAt != proto.Never:
	case l.attempt == 0 && !l.stalled && m.cfg.Gather > 0:
		l.beginAt = now + m.cfg.Gather
	default:
		m.begin(now, out)
	}
}

func (m *Machine) ballot() Ballot {
	return Ballot{m.lead.takeover, m.lead.position, m.lead.attempt}
}

// lost says whether a member is gone that isn't in a list.
func (m *Machine) lost(list []Departure) bool {
	for _, d := range m.gone {
		if m.view.Has(d.Member) && departed(list, d.Member) < 0 {
			return true
		}
	}
	return false
}

// changes says whether the next view would differ from this one.
func (m *Machine) changes() bool {
	return m.lost(nil) || len(m.leaves) > 0 || slices.ContainsFunc(m.joins, m.welcome) || len(m.changed(nil, nil)) > 0
}

// welcome says whether a joiner can still be let in: it isn't known to be gone.
func (m *Machine) welcome(x Member) bool { return departed(m.gone, x) < 0 }

// begin begins a round: it collects if it must, else it proposes.
func (m *Machine) begin(now proto.Time, out *Actions) {
	l := &m.lead
	l.busy = false
	more := m.lost(l.skip)
	l.skip = nil // of its own: messages share it
	for _, d := range m.gone {
		if m.view.Has(d.Member) {
			l.skip = append(l.skip, d)
		}
	}
	if !m.cfg.quorum(m.view, l.skip) {
		m.stall(now, more, out)
		return
	}
	l.stalled, l.until = false, proto.Never
	if !m.settled(l.skip, out) {
		return
	}
	if m.promised.Takeover > l.takeover || m.promised.Takeover == l.takeover && m.promised.Position > l.position {
		// Another coordinator has begun meanwhile.
		l.takeover, l.attempt, l.collected, l.adopted = m.promised.Takeover+1, 0, false, nil
	} else if l.takeover == 0 && l.position > 0 {
		l.takeover = 1
	}
	l.attempt++
	l.busy = true
	x := &Message{Kind: Collect, From: m.cfg.Self, Number: m.view.Number + 1, Ballot: m.ballot(), Base: m.view, Skip: l.skip}
	if l.collected {
		x.Kind, x.View = Propose, l.adopted
		if x.View != nil && m.cfg.bugs.adoptsWithoutMetadata {
			x.View = m.view.Next(x.View.Gone, x.View.Joined)
		}
		if x.View == nil {
			x.View = m.desired()
		}
	}
	m.order(now, x, out)
}

// desired is the view that this process would have next.
func (m *Machine) desired() *View {
	gone := slices.Clone(m.lead.skip)
	for _, x := range m.leaves {
		if m.view.Has(x) && departed(gone, x) < 0 {
			gone = append(gone, Departure{x, Left})
		}
	}
	var joined []Member
	for _, x := range m.joins {
		if m.welcome(x) {
			joined = append(joined, x)
		}
	}
	if len(m.view.Members) > 1 && len(gone) == len(m.view.Members) && len(joined) == 0 {
		// A view has members: if all leave, this process does so after the others.
		gone = slices.DeleteFunc(gone, func(d Departure) bool { return d.Member == m.cfg.Self })
	}
	return m.view.Next(gone, joined, m.changed(gone, joined)...)
}

// collected ends a Collect. What has the highest ballot may have been decided
// on, so it must be proposed again. If nothing was accepted, this process may propose anything.
func (m *Machine) collected(now proto.Time, out *Actions) {
	m.lead.collected, m.lead.adopted = true, m.round.view
	m.lead.busy = false
	m.begin(now, out)
}

// decided ends a Propose: all live members have accepted.
func (m *Machine) decided(now proto.Time, out *Actions) {
	base, next, skip := m.view, m.proposal, m.lead.skip
	x := &Message{Kind: Commit, Number: next.Number, View: next, Skip: skip}
	for _, y := range base.Members {
		// A silent member may be live, and has to know.
		if i := departed(skip, y); y != m.cfg.Self && !next.Has(y) && (i < 0 || skip[i].Why == Silent) {
			m.send(y, &Message{Kind: Eviction, Number: next.Number}, out)
		}
	}
	t := m.tree(next, skip)
	if !next.Has(m.cfg.Self) {
		// It leaves, or adopted the proposal of a coordinator that took it for gone.
		if t.size() > 0 {
			m.send(t.member(0), x, out)
		}
		m.exclude(out)
		return
	}
	x.From = m.cfg.Self
	m.forward(&t, 0, x, out)
	m.install(next, true, out)
	m.drive(now, out)
}

// rejected takes the word that a member has promised a higher ballot.
func (m *Machine) rejected(now proto.Time, x *Message, out *Actions) {
	l := &m.lead
	if !m.hears(x.From) || x.Number != m.view.Number+1 || !l.busy || !m.ballot().Less(x.Accepted) {
		return
	}
	l.takeover, l.attempt, l.collected, l.adopted, l.busy = x.Accepted.Takeover+1, 0, false, nil, false
	m.drive(now, out)
}

// stall says that there is no quorum, asks which of the silent are gone for certain,
// and after a while gives up. more says that another member is gone since it was last asked.
func (m *Machine) stall(now proto.Time, more bool, out *Actions) {
	l := &m.lead
	if !l.stalled {
		l.stalled = true
		if m.cfg.Patience > 0 {
			l.until = now + m.cfg.Patience
		}
		*out = append(*out, Action{Kind: Stalled, View: m.view, Gone: l.skip})
	} else if !more {
		return
	}
	m.inquiry(&Message{Kind: Ask, From: m.cfg.Self, Number: m.view.Number + 1, Ballot: m.ballot(), Base: m.view, Skip: l.skip}, out)
}

// halt gives up, with all members on this side.
func (m *Machine) halt(out *Actions) {
	m.halted(&Message{Kind: Halt, From: m.cfg.Self, Number: m.view.Number + 1, Ballot: m.ballot(), Base: m.view, Skip: m.lead.skip}, out)
}
