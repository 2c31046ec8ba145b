package membership

import (
	"slices"

	"banyan/internal/proto"
)

// This file is what every member does: it passes on what comes down the tree, promises and
// accepts, and gathers the answers of its subtree on their way up. It waits for
// its children without a time-out. If one dies the detector tells the
// coordinator, which begins again without it.

// order takes a Collect or a Propose, which comes down the coordinator's tree. A member obeys if
// it may believe the order (ordered), if it has the view that the order builds on (catchUp), if
// it doesn't take the coordinator for gone, and if it hasn't promised a higher ballot (promise).
func (m *Machine) order(now proto.Time, x *Message, out *Actions) {
	coordinator := x.Base.Members[x.Ballot.Position]
	t := m.tree(x.Base, x.Skip)
	index := t.index(m.cfg.Self)
	switch {
	case m.view != nil && !m.view.Has(x.From):
	case m.view != nil && x.Base.Number < m.view.Number:
		if coordinator != m.cfg.Self {
			m.bringUp(coordinator, out) // it has missed a view
		}
	case !m.ordered(x, &t, index), !m.catchUp(x.Base, out):
	case departed(m.gone, coordinator) >= 0:
	case m.promise(x, out):
		m.takePart(now, x, &t, index, out)
	}
}

// ordered says whether an order has come from its coordinator or down its tree, and whether an
// honest coordinator could have given it: one that has a quorum.
func (m *Machine) ordered(x *Message, t *tree, index int) bool {
	return m.cfg.quorum(x.Base, x.Skip) && t.handsDown(x.From, x.Base.Members[x.Ballot.Position], index)
}

// catchUp makes sure that an order's base, which isn't older than the view in force, is the view in
// force. A later base is installed: its commit was lost with the member that should have passed it
// on, or this process is joining. The result is false if the base can't be in force here.
func (m *Machine) catchUp(base *View, out *Actions) bool {
	switch {
	case m.view == nil && !m.mayTake(base):
		return false
	case m.view == nil:
	case base.Number == m.view.Number:
		return base.same(m.view)
	case base.follows(m.view) != nil:
		return false
	}
	m.install(base, false, out)
	return true
}

// promise makes an order's ballot the lowest that this member listens to. The result is false if it
// has had this order, which is sent once, or if it has promised a higher ballot, and says so.
func (m *Machine) promise(x *Message, out *Actions) bool {
	if x.Ballot == m.promised {
		return false
	}
	if x.Ballot.Less(m.promised) {
		m.send(x.Base.Members[x.Ballot.Position], &Message{Kind: Reject, Number: x.Number, Accepted: m.promised}, out)
		return false
	}
	if (len(m.round.awaiting) > 0 || m.round.held) && !m.round.root && m.round.ballot.Position != x.Ballot.Position {
		m.leftRound, m.hasLeft = m.round.ballot, true // its coordinator waits for this member's answer: see unbind
	}
	m.promised = x.Ballot
	return true
}

// takePart begins this member's part in a round: it accepts what is proposed, or recalls what it
// has accepted, passes the order on, and waits for its children.
func (m *Machine) takePart(now proto.Time, x *Message, t *tree, index int, out *Actions) {
	m.round = round{ballot: x.Ballot, kind: x.Kind, root: index == 0, awaiting: m.round.awaiting[:0], skip: x.Skip}
	if index > 0 {
		m.round.parent = t.member(t.parent(index))
	}
	if x.Kind == Propose {
		m.accepted, m.proposal = x.Ballot, x.View
	} else if m.proposal != nil {
		m.round.best, m.round.view = m.accepted, m.proposal
	}
	m.round.certain = m.appendCertain(m.round.certain, x.Skip)
	m.forward(t, index, x, out)
	for first, end := t.children(index); first < end; first++ {
		m.round.awaiting = append(m.round.awaiting, t.member(first))
	}
	m.complete(now, out)
}

// appendCertain appends the departures of members that an order skips for their silence, and that
// this member knows to be gone for certain.
func (m *Machine) appendCertain(certain, skip []Departure) []Departure {
	for _, d := range skip {
		if i := departed(m.gone, d.Member); i >= 0 && d.Why == Silent && m.gone[i].Why != Silent {
			certain = append(certain, m.gone[i])
		}
	}
	return certain
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

// believes says whether what a child reports can have been accepted. Only a
// coordinator looks at the view; the others pass it on.
func (m *Machine) believes(x *Message) bool {
	r := &m.round
	return r.kind == Collect && x.Accepted.Less(r.ballot) &&
		(!r.root || x.View.same(m.proposal) || x.View.follows(m.view) == nil)
}

// complete answers for the subtree when all of it has answered.
func (m *Machine) complete(now proto.Time, out *Actions) {
	r := &m.round
	if r.held = len(r.awaiting) == 0 && r.kind == Propose && now < m.heldUntil(); r.held {
		return
	}
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
	if m.view != nil && x.View.Number <= m.view.Number || !x.View.Has(m.cfg.Self) || !m.mayTake(x.View) {
		return
	}
	if x.Kind == Current {
		// For this process alone, which asked to be let in, or coordinates and lags behind.
		if m.view == nil && x.View.Has(x.From) ||
			(m.hears(x.From) && m.lead.attempt > 0 || m.asks(x.From)) && x.View.follows(m.view) == nil {
			m.install(x.View, false, out)
		}
		return
	}
	t := m.tree(x.View, x.Skip)
	index := t.index(m.cfg.Self)
	switch {
	case index < 0 || index > 0 && x.From != t.member(t.parent(index)):
		return
	case m.view != nil && (!m.view.Has(x.From) || !x.View.same(m.proposal)):
		return // a decision is on what all members have accepted, this one too
	}
	m.install(x.View, false, out)
	m.forward(&t, index, x, out)
}

// bringUp sends the view in force to a process that lags behind, or tells it that it is out.
func (m *Machine) bringUp(to Member, out *Actions) {
	switch {
	case m.view.Has(to):
		m.send(to, &Message{Kind: Current, Number: m.view.Number, View: m.view}, out)
	case m.view.Excludes(to):
		m.send(to, &Message{Kind: Eviction, Number: m.view.Number}, out)
	}
}

// inquiry takes the coordinator's question which of the silent are gone for certain.
func (m *Machine) inquiry(x *Message, out *Actions) {
	t := m.tree(x.Base, x.Skip)
	index := t.index(m.cfg.Self)
	coordinator := x.Base.Members[x.Ballot.Position]
	if !x.Base.same(m.view) || !t.handsDown(x.From, coordinator, index) {
		return
	}
	m.asker, m.asked = coordinator, true
	m.forward(&t, index, x, out)
	known := m.appendCertain(nil, x.Skip)
	if len(known) > 0 && m.asker != m.cfg.Self {
		m.send(m.asker, &Message{Kind: Certain, Gone: known}, out)
	}
}

// halted takes the news that the coordinator has given up.
func (m *Machine) halted(x *Message, out *Actions) {
	t := m.tree(x.Base, x.Skip)
	index := t.index(m.cfg.Self)
	if !x.Base.same(m.view) || !t.handsDown(x.From, x.Base.Members[x.Ballot.Position], index) || m.cfg.quorum(m.view, x.Skip) {
		return
	}
	m.forward(&t, index, x, out)
	m.over = true
	*out = append(*out, Action{Kind: Halted, View: m.view, Gone: x.Skip})
}
