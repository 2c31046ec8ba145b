package membership

import (
	"slices"

	"banyan/internal/proto"
)

// What every member does: it passes on what comes down the tree, promises and
// accepts, and gathers the answers of its subtree on their way up. It waits for
// its children without a time-out. If one dies the detector tells the
// coordinator, which begins again without it.

// order takes a Collect or a Propose.
func (m *Machine) order(now proto.Time, x *Message, out *Actions) {
	coordinator := x.Base.Members[x.Ballot.Position]
	switch {
	case m.view != nil && (!m.view.Has(x.From) || coordinator == m.cfg.Self && x.From != coordinator):
		return
	case m.view != nil && x.Base.Number < m.view.Number:
		m.bringUp(coordinator, out)
		return
	case m.view != nil && x.Base.Number == m.view.Number && !x.Base.same(m.view):
		return
	case !m.cfg.quorum(x.Base, x.Skip):
		return // nobody honest would begin
	}
	t := m.tree(x.Base, x.Skip)
	place := t.place(m.cfg.Self)
	if !t.hands(x.From, coordinator, place) {
		return
	}
	if m.view == nil || x.Base.Number > m.view.Number {
		// The commit was lost with the one that should have passed it on.
		if m.view != nil && x.Base.follows(m.view) != nil {
			return
		}
		m.install(x.Base, false, out)
	}
	if departed(m.gone, coordinator) >= 0 {
		return // whom this process holds for gone it doesn't help any more
	}
	if x.Ballot == m.promised {
		return // each is sent once
	}
	if x.Ballot.Less(m.promised) {
		m.send(coordinator, &Message{Kind: Reject, Number: x.Number, Accepted: m.promised}, out)
		return
	}
	if len(m.round.awaiting) > 0 && !m.round.root && m.round.ballot.Position != x.Ballot.Position {
		m.deserts, m.deserted = m.round.ballot, true
	}
	m.promised = x.Ballot
	m.round = round{ballot: x.Ballot, kind: x.Kind, root: place == 0, awaiting: m.round.awaiting[:0]}
	if place > 0 {
		m.round.parent = t.member(t.parent(place))
	}
	if x.Kind == Propose {
		m.accepted, m.proposal = x.Ballot, x.View
	} else if m.proposal != nil {
		m.round.best, m.round.view = m.accepted, m.proposal
	}
	m.noteCertain(x.Skip)
	m.forward(&t, place, x, out)
	for first, end := t.children(place); first < end; first++ {
		m.round.awaiting = append(m.round.awaiting, t.member(first))
	}
	m.complete(now, out)
}

// noteCertain lets the answer say what is certain about those who are skipped
// for their silence.
func (m *Machine) noteCertain(skip []Departure) {
	for _, d := range skip {
		if i := departed(m.gone, d.Member); i >= 0 && d.Why == Silent && m.gone[i].Why != Silent {
			m.round.certain = append(m.round.certain, m.gone[i])
		}
	}
}

// answer takes a Report or an Ack of a child.
func (m *Machine) answer(now proto.Time, x *Message, out *Actions) {
	r := &m.round
	if m.view == nil || x.Number != m.view.Number+1 || x.Ballot != r.ballot || (x.Kind == Report) != (r.kind == Collect) {
		return
	}
	child := slices.Index(r.awaiting, x.From)
	if child < 0 || x.View != nil && !m.believes(x) {
		return
	}
	r.awaiting = slices.Delete(r.awaiting, child, child+1)
	r.certain = append(r.certain, x.Gone...)
	if x.View != nil && (r.view == nil || r.best.Less(x.Accepted)) {
		r.best, r.view = x.Accepted, x.View
	}
	m.complete(now, out)
}

// believes says whether what a child reports can have been accepted. A
// coordinator looks at the view too, which everyone else only passes on.
func (m *Machine) believes(x *Message) bool {
	r := &m.round
	return r.kind == Collect && x.Accepted.Less(r.ballot) &&
		(!r.root || x.View.same(m.proposal) || x.View.follows(m.view) == nil)
}

// complete answers for the subtree when all of it has answered.
func (m *Machine) complete(now proto.Time, out *Actions) {
	r := &m.round
	switch {
	case len(r.awaiting) > 0:
	case r.root:
		m.learn(r.certain)
		if r.kind == Collect {
			m.collected(now, out)
		} else {
			m.decided(now, out)
		}
	case r.kind == Collect:
		m.send(r.parent, &Message{Kind: Report, Number: m.view.Number + 1, Ballot: r.ballot, View: r.view, Accepted: r.best, Gone: r.certain}, out)
	default:
		m.send(r.parent, &Message{Kind: Ack, Number: m.view.Number + 1, Ballot: r.ballot, Gone: r.certain}, out)
	}
}

// commit takes the decision on a view.
func (m *Machine) commit(x *Message, out *Actions) {
	if m.view != nil && x.View.Number <= m.view.Number || !x.View.Has(m.cfg.Self) {
		return
	}
	if x.Kind == Current {
		// For this process alone, which asked to be let in, or coordinates and lags behind.
		if m.view == nil && x.View.Has(x.From) ||
			m.hears(x.From) && m.lead.attempt > 0 && x.View.follows(m.view) == nil {
			m.install(x.View, false, out)
		}
		return
	}
	t := m.tree(x.View, x.Skip)
	place := t.place(m.cfg.Self)
	switch {
	case place < 0 || place > 0 && x.From != t.member(t.parent(place)):
		return
	case m.view != nil && (!m.view.Has(x.From) || !x.View.same(m.proposal)):
		return // this process would have accepted what all have
	}
	m.install(x.View, false, out)
	m.forward(&t, place, x, out)
}

// bringUp sends the view in force to somebody who lags behind.
func (m *Machine) bringUp(to Member, out *Actions) {
	switch {
	case m.view.Has(to):
		m.send(to, &Message{Kind: Current, Number: m.view.Number, View: m.view}, out)
	case m.view.Excludes(to):
		m.send(to, &Message{Kind: Eviction, Number: m.view.Number}, out)
	}
}

// inquiry takes the coordinator's question who is certainly gone.
func (m *Machine) inquiry(x *Message, out *Actions) {
	t := m.tree(x.Base, x.Skip)
	place := t.place(m.cfg.Self)
	coordinator := x.Base.Members[x.Ballot.Position]
	if !x.Base.same(m.view) || !t.hands(x.From, coordinator, place) {
		return
	}
	m.asker, m.asked = coordinator, true
	m.forward(&t, place, x, out)
	var known []Departure
	for _, d := range x.Skip {
		if i := departed(m.gone, d.Member); i >= 0 && d.Why == Silent && m.gone[i].Why != Silent {
			known = append(known, m.gone[i])
		}
	}
	if len(known) > 0 && m.asker != m.cfg.Self {
		m.send(m.asker, &Message{Kind: Certain, Gone: known}, out)
	}
}

// halted: the coordinator has given up.
func (m *Machine) halted(x *Message, out *Actions) {
	t := m.tree(x.Base, x.Skip)
	place := t.place(m.cfg.Self)
	if !x.Base.same(m.view) || !t.hands(x.From, x.Base.Members[x.Ballot.Position], place) || m.cfg.quorum(m.view, x.Skip) {
		return
	}
	m.forward(&t, place, x, out)
	m.over = true
	*out = append(*out, Action{Kind: Halted, View: m.view, Gone: x.Skip})
}
