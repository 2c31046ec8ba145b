package groupnode

import (
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// ending is what is known of the end of a member.
//
// A death is certain if two things come together: the member's stream to this process has ended
// in order, and the kernel, which is that of this process too, says that the member has ended
// (presence.go). The first says that the member hadn't excluded this process: it would have said so
// on the stream before it did anything in the name of such a view (see dismiss). A death that is
// known in another way leaves open what the dead member had decided with others while it couldn't
// be heard, so to a quorum it is merely silent.
//
// A connection that broke, or was refused, proves nothing. But what was in it is lost, and of two
// members that can't rely on each other's messages one has to go: see giveUpAfter.
type ending struct {
	stream    streamState
	ended     bool // its kernel says so
	lost      bool // a connection with it has broken, though it may live
	certain   bool // its death is certain, and the membership has been told so
	suspected bool // the detector is to be told so
	suspectAt proto.Time
	reported  bool // the detector has been told
	probing   bool // a liveness probe is under way
	awaiting  []chan<- answer
}

type streamState uint8

const (
	noStream streamState = iota
	open
	orderly // ended after its sender's last frame
	broken
)

func (m *Member) ending(who membership.Member) *ending {
	e := m.endings[who]
	if e == nil {
		e = &ending{}
		m.endings[who] = e
	}
	return e
}

// streamEnded notes that nothing more comes on a stream.
func (m *Member) streamEnded(s *stream, inOrder bool) {
	if m.streams[s.from] != s {
		return // another stream has replaced it, or its sender is excluded
	}
	delete(m.streams, s.from)
	e := m.ending(s.from)
	e.stream = broken
	if inOrder && s.heard {
		e.stream = orderly
	}
	m.probe(s.from)
	m.reviewEnding(s.from)
	m.settle()
}

// linkEnded notes that nothing more can be sent on a link.
func (m *Member) linkEnded(l *link, found finding, number uint64) {
	if m.links[l.to] != l || m.abandon(l) {
		return
	}
	switch e := m.ending(l.to); found {
	case dead:
		e.ended = true
	case excludesUs:
		m.excludedBy(l.to, number)
	case alive, unreachable:
		m.probe(l.to)
	}
	m.reviewEnding(l.to)
	m.settle()
}

// probe finds out, in the background, whether a member lives.
func (m *Member) probe(who membership.Member) {
	e, card := m.ending(who), m.cards[who]
	if e.probing || e.ended || card.Address == "" {
		return
	}
	e.probing = true
	h := m.hello(toAsk, card.Nonce)
	m.background.Go(func() {
		_, _, found, number := m.reach(card, h, dialLimit)
		m.post(func() { m.probed(who, e, found, number) })
	})
}

// probed takes the result of a liveness probe.
func (m *Member) probed(who membership.Member, e *ending, found finding, number uint64) {
	e.probing = false
	reply := answer{verdict: later}
	switch found {
	case dead:
		e.ended = true
	case excludesUs:
		m.excludedBy(who, number)
	case alive:
		reply = answer{verdict: nameInUse, text: m.cards[who].Address}
	}
	l := m.links[who]
	e.lost = e.lost || found != dead && (e.stream >= orderly || l != nil && l.isDown())
	for _, r := range e.awaiting {
		r <- reply
	}
	e.awaiting = nil
	if m.endings[who] == e {
		m.reviewEnding(who)
	}
	m.settle()
}

// reviewEnding tells the machines what they have to know of a member's end.
func (m *Member) reviewEnding(who membership.Member) {
	e := m.endings[who]
	if e == nil || m.machine == nil || !m.machine.View().Has(who) || who == m.self {
		return
	}
	if e.ended && e.stream == orderly && !e.certain {
		e.certain = true
		m.machine.Departed(m.now, who, membership.Died, &m.out)
		// The coordinator may hear of the death from others, as one that is less certain.
		if c, ok := m.machine.Coordinator(); ok && c != m.self {
			m.sendMembership(c, &membership.Message{
				Kind: membership.Certain, From: m.self, Gone: []membership.Departure{{Member: who, Why: membership.Died}},
			})
		}
	}
	wait := m.giveUpAfter(who, e)
	if wait != proto.Never && (!e.suspected || m.now+wait < e.suspectAt) {
		e.suspected, e.suspectAt = true, m.now+wait
		m.suspectAt = min(m.suspectAt, e.suspectAt)
	}
}

// giveUpAfter is how long it takes until the detector is told of a member's end: not at all if
// nothing is known of it. All members that were connected with a dead one see its end at once;
// without the delay of a period the detector of each would tell all others along many ways, just
// while the coordinator, which has been told, proposes a view. A broken connection is given δ, in
// which a live member would be silent to others too. Both ends may have lost it, so the member with
// the higher number waits for twice as long: by then it has heard that it is excluded.
func (m *Member) giveUpAfter(who membership.Member, e *ending) proto.Time {
	switch {
	case e.ended && e.stream != open:
		return proto.Time(m.cfg.Period)
	case e.lost && who.Proc < m.self.Proc:
		return 2 * proto.Time(m.cfg.Timeout)
	case e.lost:
		return proto.Time(m.cfg.Timeout)
	}
	return proto.Never
}

// reportSuspicions tells the detector of suspected deaths that no view has excluded in time.
func (m *Member) reportSuspicions() {
	m.suspectAt = proto.Never
	for who, e := range m.endings {
		switch {
		case !e.suspected || e.reported || !m.machine.View().Has(who):
		case m.now < e.suspectAt:
			m.suspectAt = min(m.suspectAt, e.suspectAt)
		default:
			e.reported = true
			m.detector.Evidence(m.now, who.Proc, who.Incarnation, &m.detections)
		}
	}
}

// excludedBy takes the word of an acceptor that its view doesn't have this member.
func (m *Member) excludedBy(who membership.Member, number uint64) {
	if m.machine != nil {
		m.machine.Receive(m.now, &membership.Message{Kind: membership.Eviction, From: who, Number: number}, &m.out)
	}
}
