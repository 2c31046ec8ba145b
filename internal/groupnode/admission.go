package groupnode

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// reservation is the number that the coordinator keeps for a joiner.
type reservation struct {
	member   membership.Member
	card     Card
	metadata string
	link     *link
	injected bool // the machine knows
	awaiting []chan<- answer
}

// joinRequested answers a joiner.
//
// Only the most senior member of a view lets joiners in, never one that takes over. So one member
// chooses all numbers and names of the next view, and no two members have the same. The number is
// a free one, so that numbers stay small; the incarnation is the number of the next view, which
// no earlier member can have had.
func (m *Member) joinRequested(h *hello, reply chan<- answer) {
	a := m.mayNotAdmit(h)
	if h.purpose == toMeet && a == nil {
		a = &answer{verdict: isMember, number: m.machine.View().Number}
	}
	if a != nil {
		a.founding, a.node = m.founding, m.node()
		reply <- *a
		return
	}
	v := m.machine.View()
	for _, who := range v.Members {
		if m.cards[who].Name == h.card.Name {
			m.nameTaken(who, h, reply)
			return
		}
	}
	r := m.reserved[h.card.Name]
	switch {
	case r == nil && len(v.Members)+len(m.reserved) >= maxMembers:
		reply <- answer{verdict: refused, text: fmt.Sprintf("the group has %d members, and no more may join", len(v.Members))}
	case r == nil:
		m.reserve(v, h, reply)
	case r.card.Nonce != h.card.Nonce:
		reply <- answer{verdict: later} // an earlier attempt has to end first
	case r.injected:
		reply <- answer{verdict: welcome}
	default:
		r.awaiting = append(r.awaiting, reply)
	}
}

// mayNotAdmit is the answer of a member that can't let a joiner in, nil if it can.
func (m *Member) mayNotAdmit(h *hello) *answer {
	switch {
	case m.ended != nil:
		return &answer{verdict: later}
	case h.card.Nonce == m.card.Nonce:
		return &answer{verdict: itself}
	case h.group != m.cfg.Group:
		return &answer{verdict: otherGroup, text: fmt.Sprintf("this is group %q, not %q", m.cfg.Group, h.group)}
	case m.machine == nil:
		m.heardCandidate(h.state, h.card.Address)
		return &answer{verdict: looksToo, state: m.state(), peers: m.peers()}
	case h.founding != (Founding{}) && h.founding != m.founding:
		m.rival(h.card.Name, h.card.Address, h.founding)
	}
	if h.purpose == toMeet {
		return nil
	}
	if c, ok := m.machine.Coordinator(); ok && c != m.self {
		return &answer{verdict: redirect, text: m.cards[c].Address}
	}
	if m.machine.View().Members[0] != m.self {
		return &answer{verdict: later}
	}
	if ours := m.cfg.settings(); h.settings != ours {
		return &answer{verdict: refused, text: fmt.Sprintf("%v; the group has %v", h.settings, ours)}
	}
	return nil
}

// nameTaken answers a joiner that has the name of a member.
func (m *Member) nameTaken(who membership.Member, h *hello, reply chan<- answer) {
	switch {
	case m.cards[who].Nonce == h.card.Nonce: // it is that member, and doesn't have the view yet
		reply <- answer{verdict: welcome}
		m.machine.Receive(m.now, &membership.Message{Kind: membership.Join, From: who}, &m.out)
		m.settle()
	case who == m.self:
		reply <- answer{verdict: nameInUse, text: m.card.Address}
	case m.detector.Alive(who.Proc):
		// The group must first find out whether the earlier incarnation lives.
		e := m.ending(who)
		if m.probe(who); !e.probing {
			reply <- answer{verdict: later}
			return
		}
		e.awaiting = append(e.awaiting, reply)
	default:
		reply <- answer{verdict: later}
	}
}

// reserve keeps a number for a joiner, and connects to it: it is let in once it can be reached.
func (m *Member) reserve(v *membership.View, h *hello, reply chan<- answer) {
	r := &reservation{member: m.freeNumber(v), card: h.card, metadata: h.metadata, awaiting: []chan<- answer{reply}}
	m.reserved[r.card.Name], m.cards[r.member] = r, r.card
	r.link = m.newLink(r.member, r.card, admitLimit)
}

// freeNumber is the lowest number that nobody has.
func (m *Member) freeNumber(v *membership.View) membership.Member {
	taken := map[proto.Proc]bool{}
	for _, x := range v.Members {
		taken[x.Proc] = true
	}
	for _, r := range m.reserved {
		taken[r.member.Proc] = true
	}
	p := proto.Proc(0)
	for taken[p] {
		p++
	}
	return membership.Member{Proc: p, Incarnation: proto.Incarnation(v.Number + 1)}
}

// linked notes that a link is made. If it leads to a joiner, the joiner is let in.
func (m *Member) linked(l *link) {
	for _, r := range m.reserved {
		if r.link == l && !r.injected {
			r.injected = true
			r.tell(answer{verdict: welcome})
			x := &membership.Message{Kind: membership.Join, From: r.member}
			if r.metadata != "" {
				x.Metadata = membership.Metadata{Member: r.member, Version: 1, Bytes: r.metadata}
			}
			m.machine.Receive(m.now, x, &m.out)
			m.settle()
			return
		}
	}
}

// abandon ends the reservation of a joiner that can't be reached. It returns false if the link
// leads to no such joiner.
func (m *Member) abandon(l *link) bool {
	for name, r := range m.reserved {
		if r.link == l && !r.injected {
			r.tell(answer{verdict: later, text: m.card.Name + " can't reach " + r.card.Address})
			delete(m.reserved, name)
			delete(m.links, r.member)
			delete(m.cards, r.member)
			delete(m.endings, r.member)
			return true
		}
	}
	return false
}

func (r *reservation) tell(a answer) {
	for _, reply := range r.awaiting {
		reply <- a
	}
	r.awaiting = nil
}
