package membership

import (
	"slices"

	"banyan/internal/proto"
)

// joiner is how a process that joins finds the coordinator: it asks the processes that it knows of,
// one after the other, follows a redirection, and asks again if no answer comes in time. It needs
// this time-out because the detector watches members only: it would tell neither of the joiner's
// death nor, to the joiner, of the coordinator's.
type joiner struct {
	contacts []Member
	asked    Member // last
	next     int
	retryAt  proto.Time
	pledge   Member // its first view has this member
	pledged  bool
	claims   []Member // that wanted a pledge while another one had it
}

// NewJoiner makes the machine of a process that wants to be let in by any of the
// contacts. It panics if the Config isn't valid or there is no contact.
func NewJoiner(cfg Config, contacts []Member, now proto.Time, out *Actions) *Machine {
	m := newMachine(cfg)
	if len(contacts) == 0 {
		panic("membership: a joiner needs a contact")
	}
	m.joiner.contacts = slices.Clone(contacts)
	if cfg.Metadata != "" {
		m.own = Metadata{cfg.Self, 1, cfg.Metadata}
	}
	m.askNext(now, out)
	return m
}

// askNext asks the next contact.
func (m *Machine) askNext(now proto.Time, out *Actions) {
	d := &m.joiner
	to := d.contacts[d.next%len(d.contacts)]
	d.next++
	m.ask(now, to, out)
}

func (m *Machine) ask(now proto.Time, to Member, out *Actions) {
	m.joiner.asked, m.joiner.retryAt = to, proto.Never
	if m.cfg.Retry > 0 {
		m.joiner.retryAt = now + m.cfg.Retry
	}
	m.send(to, &Message{Kind: Join, Metadata: m.own}, out)
}

// turnedAway takes the answer of a process that can't or won't let this one in.
func (m *Machine) turnedAway(now proto.Time, x *Message, out *Actions) {
	switch {
	case m.view != nil || x.From != m.joiner.asked && !slices.Contains(m.joiner.contacts, x.From):
	case x.Kind == Refuse:
		m.over = true
		*out = append(*out, Action{Kind: Refused})
	case x.Member != m.cfg.Self:
		m.ask(now, x.Member, out)
	}
}

// admit takes a process's request to be let in. A process that asks twice, here or elsewhere, is
// let in once, because an incarnation has one name.
func (m *Machine) admit(x *Message, out *Actions) {
	if m.view == nil {
		return
	}
	if m.view.Has(x.From) {
		m.bringUp(x.From, out) // the commit was lost
		return
	}
	// A new incarnation means that the one before is over, even if no member has noticed.
	if p := x.From.Proc; p == m.cfg.Self.Proc {
		m.exclude(out)
		return
	} else if i := m.view.incarnation(p); i >= 0 {
		m.note(Departure{m.view.Members[i], Died})
	}
	if c, _ := m.Coordinator(); c != m.cfg.Self {
		m.send(x.From, &Message{Kind: Redirect, Member: c}, out)
		return
	}
	m.joins = slices.DeleteFunc(m.joins, func(y Member) bool { return y.Proc == x.From.Proc && y.Incarnation < x.From.Incarnation })
	if !slices.ContainsFunc(m.joins, func(y Member) bool { return y.Proc == x.From.Proc }) {
		m.joins = append(m.joins, x.From)
	}
	if x.Kind == Join && x.Metadata.Version > 0 {
		m.noteUpdate(x.Metadata)
	}
}

// Leave asks to leave. The process stays a member, and takes part, until it is released.
func (m *Machine) Leave(now proto.Time, out *Actions) {
	if m.over || m.leaving {
		return
	}
	m.leaving = true
	if m.view == nil {
		m.exclude(out)
		return
	}
	m.askToLeave(out)
	m.drive(now, out)
}

func (m *Machine) askToLeave(out *Actions) {
	switch c, ok := m.Coordinator(); {
	case !ok:
	case c != m.cfg.Self:
		m.send(c, &Message{Kind: Leave}, out)
	case !slices.Contains(m.leaves, c):
		m.leaves = append(m.leaves, c)
	}
}
