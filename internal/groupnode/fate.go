package groupnode

import (
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// fate is what is known of the end of a life.
//
// Its death is certain if two things come together: its stream to this process
// has ended in order, and nobody listens at its address any more. The first
// says that it hadn't excluded this process: it would have said so on the stream
// before it did anything in the name of such a view (see dismiss). A death that is
// known in another way leaves open what the dead one had decided with others
// while it couldn't be heard, so to a quorum it is merely silent.
type fate struct {
	stream   streamState
	refused  bool // nobody listens there
	lost     bool // it lives, or doesn't answer, but a connection with it has broken
	certain  bool // and the membership has been told so
	feared   bool // and the detector is to be told so
	tellAt   proto.Time
	told     bool // and has been
	asking   bool // an inquest is on its way
	awaiting []chan<- answer
}

type streamState uint8

const (
	noStream streamState = iota
	open
	orderly // ended after its sender's last word
	broken
)

func (m *Member) fate(who membership.Member) *fate {
	f := m.fates[who]
	if f == nil {
		f = &fate{}
		m.fates[who] = f
	}
	return f
}

// streamEnded: nothing more comes from somebody.
func (m *Member) streamEnded(s *stream, inOrder bool) {
	if m.streams[s.from] != s {
		return // another one took its place, or its sender is excluded
	}
	delete(m.streams, s.from)
	f := m.fate(s.from)
	f.stream = broken
	if inOrder && s.said {
		f.stream = orderly
	}
	m.inquire(s.from)
	m.judgeFate(s.from)
	m.settle()
}

// linkEnded: nothing more can be sent to somebody.
func (m *Member) linkEnded(l *link, found finding, number uint64) {
	if m.links[l.to] != l || m.turnAway(l) {
		return
	}
	switch f := m.fate(l.to); found {
	case dead:
		f.refused = true
	case excludesUs:
		m.excludedBy(l.to, number)
	case alive, unreachable:
		m.inquire(l.to)
	}
	m.judgeFate(l.to)
	m.settle()
}

// inquire finds out, in the background, whether somebody lives.
func (m *Member) inquire(who membership.Member) {
	f, card := m.fate(who), m.cards[who]
	if f.asking || f.refused || card.Address == "" {
		return
	}
	f.asking = true
	h := m.hello(toAsk, card.Life)
	m.background.Go(func() {
		_, found, number := m.reach(card, h, dialLimit)
		m.post(func() { m.answered(who, f, found, number) })
	})
}

// answered is the end of an inquest.
func (m *Member) answered(who membership.Member, f *fate, found finding, number uint64) {
	f.asking = false
	reply := answer{verdict: later}
	switch found {
	case dead:
		f.refused = true
	case excludesUs:
		m.excludedBy(who, number)
	case alive:
		reply = answer{verdict: inUse, text: m.cards[who].Address}
	}
	l := m.links[who]
	f.lost = f.lost || found != dead && (f.stream >= orderly || l != nil && l.isDown())
	for _, r := range f.awaiting {
		r <- reply
	}
	f.awaiting = nil
	if m.fates[who] == f {
		m.judgeFate(who)
	}
	m.settle()
}

// judgeFate tells the machines what is to be told of somebody's end.
func (m *Member) judgeFate(who membership.Member) {
	f := m.fates[who]
	if f == nil || m.machine == nil || !m.machine.View().Has(who) || who == m.self {
		return
	}
	if f.refused && f.stream == orderly && !f.certain {
		f.certain = true
		m.machine.Departed(m.now, who, membership.Died, &m.out)
		// The coordinator may hear of it by a word that says less.
		if c, ok := m.machine.Coordinator(); ok && c != m.self {
			m.sendMembership(c, &membership.Message{
				Kind: membership.Certain, From: m.self, Gone: []membership.Departure{{Member: who, Why: membership.Died}},
			})
		}
	}
	if (f.refused && f.stream != open || f.lost) && !f.feared {
		f.feared = true
		f.tellAt = m.now + proto.Time(m.cfg.Period)
		m.tellAt = min(m.tellAt, f.tellAt)
	}
}

// tellDetector passes on the fears that no view has overtaken for a period. All who had
// to do with the dead see its end at once, and the detector of each would tell everyone else
// along many ways, just while the coordinator, who has been told, proposes a view.
func (m *Member) tellDetector() {
	m.tellAt = proto.Never
	for who, f := range m.fates {
		switch {
		case !f.feared || f.told || !m.machine.View().Has(who):
		case m.now < f.tellAt:
			m.tellAt = min(m.tellAt, f.tellAt)
		default:
			f.told = true
			m.detector.Evidence(m.now, who.Proc, who.Incarnation, &m.detections)
		}
	}
}

// excludedBy takes the word of an acceptor that its view has not this member.
func (m *Member) excludedBy(who membership.Member, number uint64) {
	if m.machine != nil {
		m.machine.Receive(m.now, &membership.Message{Kind: membership.Eviction, From: who, Number: number}, &m.out)
	}
}
