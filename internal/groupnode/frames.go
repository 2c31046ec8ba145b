package groupnode

import (
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/detection"
	"banyan/internal/runtime/wire/views"
)

// hello is what this member says when it dials.
func (m *Member) hello(why purpose, to Nonce) *hello {
	return &hello{purpose: why, to: to, group: m.cfg.Group, founding: m.founding, settings: m.cfg.settings(), member: m.self, card: m.card}
}

// judge answers a dialler that wants to reach this member.
func (m *Member) judge(h *hello, s *stream) answer {
	if h.to != m.card.Nonce || m.ended != nil {
		return answer{verdict: notHere}
	}
	if m.machine != nil {
		if h.founding != m.founding {
			return answer{verdict: refused, text: "this member is of another founding"}
		}
		v := m.machine.View()
		if v.Excludes(h.member) {
			return answer{verdict: eviction, number: v.Number}
		}
		if c, known := m.cards[h.member]; known && c != h.card || h.member == m.self {
			return answer{verdict: refused, text: "another member has this number"}
		}
	}
	if h.purpose == toSend {
		if old := m.streams[h.member]; old != nil {
			old.close() // its dialler has given it up before it was used
		}
		s.from, s.founding = h.member, h.founding
		m.streams[s.from] = s
		m.ending(s.from).stream = open
	}
	return answer{verdict: welcome}
}

// linkTo is the link to a member. It is made if there is none. It is nil if there is no business
// card.
func (m *Member) linkTo(who membership.Member) *link {
	if l := m.links[who]; l != nil {
		return l
	}
	card, ok := m.cards[who]
	if !ok {
		return nil
	}
	return m.newLink(who, card, dialLimit)
}

func (m *Member) newLink(who membership.Member, card Card, limit time.Duration) *link {
	l := &link{to: who}
	l.lost = func() { m.now = m.clock(); m.linkEnded(l, unreachable, 0) }
	m.links[who] = l
	h := m.hello(toSend, card.Nonce)
	m.background.Go(func() { m.connect(l, card, h, limit) })
	return l
}

// send sends a frame. A frame to a member that is gone vanishes.
func (m *Member) send(to membership.Member, h *wire.Header, payload []byte) {
	l := m.linkTo(to)
	if l == nil {
		m.log.Debug("frame dropped: no card of its receiver", "to", m.nameOf(to), "kind", h.Kind)
		return
	}
	for part, more := *h, true; more; {
		n := min(len(payload), wire.MaxPayload)
		if more = n < len(payload); more {
			part.Aux = unfinished
		} else {
			part.Aux = h.Aux
		}
		part.Length = uint32(n)
		if err := part.Check(); err != nil {
			panic(err)
		}
		frame := make([]byte, wire.HeaderSize+n)
		wire.EncodeHeader(frame, &part)
		copy(frame[wire.HeaderSize:], payload[:n])
		payload = payload[n:]
		m.traffic.FramesSent++
		m.traffic.BytesSent += uint64(len(frame))
		l.send(frame)
	}
}

// unfinished is the Aux of a frame of the membership whose message goes on in the next one.
const unfinished = 1

// whole puts a message that came in several frames together. ok is false while some are missing.
func (s *stream) whole(h *wire.Header, payload []byte) (message []byte, ok bool) {
	if h.Aux == unfinished || len(s.message) > 0 {
		if payload = append(s.message, payload...); len(payload) > maxMessage {
			s.message = nil
			s.member.log.Warn("message dropped: it is too long", "from", s.member.nameOf(s.from), "limit", maxMessage)
			return nil, false
		}
		s.message = nil
	}
	if h.Aux == unfinished {
		s.message = payload
		return nil, false
	}
	return payload, true
}

// frame takes in a frame.
func (m *Member) frame(s *stream, h *wire.Header, payload []byte) {
	if m.streams[s.from] != s || m.machine != nil && s.founding != m.founding {
		return // its sender is excluded, or of a founding that this process hasn't joined
	}
	s.heard = true
	m.heardFrame(s.from, h, payload)
	switch {
	case h.Kind == wire.KindMembership:
		if message, ok := s.whole(h, payload); ok {
			m.membershipMessage(s, message)
		}
	case m.detector != nil:
		m.detectorFrame(s.from, h, payload)
	}
	m.settle()
}

// membershipFrame takes in a message of the membership. It drops a message that an honest member
// can't have sent.
func (m *Member) membershipFrame(s *stream, payload []byte) error {
	message, cards, err := openEnvelope(payload)
	if err != nil {
		return err
	}
	x, err := views.DecodeSteps(message, m.knownView)
	if err != nil {
		return err
	}
	switch {
	case x.From != s.from:
		return fmt.Errorf("%v in the name of %v", x.Kind, x.From)
	case x.Kind == membership.Join, x.Kind == membership.Redirect, x.Kind == membership.Refuse:
		return fmt.Errorf("%v, which comes by a handshake only", x.Kind)
	}
	for _, e := range cards {
		if known, ok := m.cards[e.member]; ok && known != e.card {
			return fmt.Errorf("%v with another card of %v", x.Kind, e.member)
		}
	}
	for _, e := range cards {
		m.cards[e.member] = e.card
	}
	for _, v := range [...]*membership.View{x.Base, x.View} {
		if v == nil || m.machine != nil && v.Number <= m.machine.View().Number {
			continue
		}
		names := make(map[string]bool, len(v.Members))
		for _, who := range v.Members {
			c, ok := m.cards[who]
			if !ok {
				return fmt.Errorf("%v of view %d without the card of %v", x.Kind, v.Number, who)
			}
			if names[c.Name] {
				return fmt.Errorf("%v of view %d with %s twice", x.Kind, v.Number, c.Name)
			}
			names[c.Name] = true
		}
	}
	if m.machine == nil && !m.admittedBy(s, x) {
		return nil // this process isn't in a view yet
	}
	m.machine.Receive(m.now, x, &m.out)
	return nil
}

// detectorFrame routes the frames of the detector.
func (m *Member) detectorFrame(from membership.Member, h *wire.Header, payload []byte) {
	if h.Kind == wire.KindEviction {
		return // only views exclude a member
	}
	if stamp := h.Stamp(); stamp.Incarnation != from.Incarnation {
		m.log.Warn("message dropped: it is stamped by another incarnation", "from", m.nameOf(from), "stamp", stamp.Incarnation)
		return
	}
	detection.Deliver(m.detector, m.now, from.Proc, h, payload, &m.detections)
}

// actDetector carries out one action of the detector. Only views exclude a member, and tell it
// so: an eviction notice of the detector is one member's opinion, and isn't sent.
func (m *Member) actDetector(a *detector.Action) {
	switch a.Kind {
	case detector.SendHeartbeat, detector.SendObserve, detector.SendNews, detector.SendReconcile, detector.SendProbe:
		var h wire.Header
		m.scratch, _ = detection.Encode(a, &h, m.scratch[:0])
		m.sendTo(a.To, &h, m.scratch)
	case detector.ReportDeath:
		v := m.machine.View()
		m.log.Info("death", "of", m.nameOfProc(a.Report.Proc), "cause", a.Report.Cause)
		if who, ok := memberOf(v, a.Report.Proc); ok && who.Incarnation <= a.Report.Incarnation {
			m.machine.Departed(m.now, who, membership.Silent, &m.out)
		}
	case detector.ReportFenced:
		if a.Report.Cause == detector.CauseSilence {
			m.log.Warn("out of reach of a member that others reach: this one goes", "of", m.nameOfProc(a.Report.By))
			m.finish(ErrMinority)
			return
		}
		m.log.Info("a member takes this one for dead", "which", m.nameOfProc(a.Report.By))
	}
}

// memberOf is the member of a view with a number.
func memberOf(v *membership.View, p proto.Proc) (membership.Member, bool) {
	for _, x := range v.Members {
		if x.Proc == p {
			return x, true
		}
	}
	return membership.Member{}, false
}

// sendTo sends a frame to the process that has a number: to the member of the view, or else to a
// process that has a later view and already has a stream to this one.
func (m *Member) sendTo(p proto.Proc, h *wire.Header, payload []byte) {
	who, ok := memberOf(m.machine.View(), p)
	for from := range m.streams {
		if !ok && from.Proc == p && from.Incarnation >= who.Incarnation {
			who = from
		}
	}
	if who.Incarnation > 0 {
		m.send(who, h, payload)
	}
}
