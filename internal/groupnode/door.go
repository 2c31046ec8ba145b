package groupnode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
)

// reservation is the number that the coordinator has for somebody at the door.
type reservation struct {
	member   membership.Member
	card     Card
	link     *link
	injected bool // the machine knows
	awaiting []chan<- answer
}

// knocked answers somebody who asks to be let in.
//
// Only the most senior member of a view lets anybody in, never one that takes over: so
// numbers and names in the next view are all of one choice, and there are no two members with one
// of either. A number is a free place, so that numbers stay small, and the number of the next view
// as the incarnation, which no earlier life can have had.
func (m *Member) knocked(h *hello, reply chan<- answer) {
	if m.machine == nil || m.ended != nil {
		reply <- answer{verdict: later}
		return
	}
	v := m.machine.View()
	if c, ok := m.machine.Coordinator(); ok && c != m.self {
		reply <- answer{verdict: elsewhere, text: m.cards[c].Address}
		return
	}
	if v.Members[0] != m.self {
		reply <- answer{verdict: later}
		return
	}
	if ours := m.cfg.terms(); h.terms != ours {
		reply <- answer{verdict: refused, text: fmt.Sprintf("%v; the group has %v", h.terms, ours)}
		return
	}
	for _, who := range v.Members {
		if m.cards[who].Name == h.card.Name {
			m.returned(who, h, reply)
			return
		}
	}
	r := m.reserved[h.card.Name]
	switch {
	case r == nil && len(v.Members)+len(m.reserved) >= maxMembers:
		reply <- answer{verdict: refused, text: fmt.Sprintf("the group has %d members, and no more may join", len(v.Members))}
	case r == nil:
		r = &reservation{member: m.place(v), card: h.card, awaiting: []chan<- answer{reply}}
		m.reserved[h.card.Name], m.cards[r.member] = r, h.card
		// It is let in once it can be reached.
		r.link = m.newLink(r.member, r.card, doorLimit)
	case r.card.Life != h.card.Life:
		reply <- answer{verdict: later} // an earlier attempt has to end first
	case r.injected:
		reply <- answer{verdict: welcome}
	default:
		r.awaiting = append(r.awaiting, reply)
	}
}

// returned answers one who has the name of a member.
func (m *Member) returned(who membership.Member, h *hello, reply chan<- answer) {
	switch {
	case m.cards[who].Life == h.card.Life: // it hasn't got the view yet
		reply <- answer{verdict: welcome}
		m.machine.Receive(m.now, &membership.Message{Kind: membership.Join, From: who}, &m.out)
		m.settle()
	case who == m.self:
		reply <- answer{verdict: inUse, text: m.card.Address}
	case m.detector.Alive(who.Proc):
		// Does the earlier life live? If not the group has to find that out first.
		f := m.fate(who)
		if m.inquire(who); !f.asking {
			reply <- answer{verdict: later}
			return
		}
		f.awaiting = append(f.awaiting, reply)
	default:
		reply <- answer{verdict: later}
	}
}

// place is a free number.
func (m *Member) place(v *membership.View) membership.Member {
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

// linked: somebody can be reached, who may be at the door.
func (m *Member) linked(l *link) {
	for _, r := range m.reserved {
		if r.link == l && !r.injected {
			r.injected = true
			r.tell(answer{verdict: welcome})
			m.machine.Receive(m.now, &membership.Message{Kind: membership.Join, From: r.member}, &m.out)
			m.settle()
			return
		}
	}
}

// turnAway ends the reservation of somebody at the door who can't be reached.
func (m *Member) turnAway(l *link) bool {
	for name, r := range m.reserved {
		if r.link == l && !r.injected {
			r.tell(answer{verdict: later, text: m.card.Name + " can't reach " + r.card.Address})
			delete(m.reserved, name)
			delete(m.links, r.member)
			delete(m.cards, r.member)
			delete(m.fates, r.member)
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

// maxHops is how often one who joins is redirected before it pauses.
const maxHops = 4

// knock asks the seeds, one after the other, and those they name, until this life is
// in a view. It asks again after a while also if it was welcome: the coordinator
// may have died.
func (m *Member) knock(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	go func() {
		select {
		case <-m.admitted:
			cancel()
		case <-ctx.Done():
		}
	}()
	var last error
	to, hops, strangers := "", 0, 0
	for next := 0; ; {
		wait := m.cfg.Period / 2
		if to == "" && len(m.cfg.Seeds) > 0 {
			to = m.cfg.Seeds[next%len(m.cfg.Seeds)]
			next, hops = next+1, 0
		}
		if to != "" && ctx.Err() == nil {
			conn, a, err := m.dial(ctx, to, &hello{purpose: toJoin, terms: m.cfg.terms(), card: m.card})
			if err != nil {
				if ctx.Err() == nil {
					last = fmt.Errorf("%s: %w", to, err)
				}
				to = ""
				if strangers++; !errors.Is(err, handshake.ErrStranger) {
					strangers = 0
				} else if strangers >= 2*len(m.cfg.Seeds) {
					return fmt.Errorf("%w: %s", ErrSecret, last)
				}
			} else {
				strangers = 0
				switch a.verdict {
				case welcome:
					conn.Close()
					wait = m.cfg.Timeout
				case elsewhere:
					to = a.text
					if hops++; hops < maxHops {
						wait = 0
					}
				case later:
					if a.text != "" {
						last = errors.New(a.text)
					}
					to = "" // it may not be a member itself
				case refused:
					return fmt.Errorf("%w by %s: %s", ErrRefused, to, a.text)
				case inUse:
					return fmt.Errorf("%w: %s is at %s", ErrNameInUse, m.card.Name, a.text)
				}
			}
		}
		select {
		case <-m.admitted:
			return nil
		case <-m.over:
			return m.Err()
		case <-ctx.Done():
			select {
			case <-m.admitted:
				return nil
			default:
			}
			if last != nil {
				return fmt.Errorf("join: %w; %w", ctx.Err(), last)
			}
			return fmt.Errorf("join: %w", ctx.Err())
		case <-time.After(wait):
		}
	}
}
