package groupnode

import (
	"fmt"
	"log/slog"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/detection"
	"banyan/internal/runtime/wire/views"
	"banyan/internal/topology"
)

// found makes a group of one.
func (m *Member) found(f Founding) {
	self := membership.Member{Proc: 0, Incarnation: 1}
	first, err := membership.NewView(1, []membership.Member{self}, []membership.Member{self}, nil, nil)
	if err == nil && m.cfg.Metadata != "" {
		said := []membership.Metadata{{Member: self, Version: 1, Bytes: m.cfg.Metadata}}
		err = first.SetMetadata(said, said)
	}
	if err != nil {
		panic(err) // it has one member, and the metadata were checked
	}
	m.self, m.cards[self] = self, m.card
	m.enter(f)
	m.machine = membership.New(m.machineConfig(), first)
	m.out = append(m.out, membership.Action{Kind: membership.Install, View: first, Stable: true})
	m.settle()
}

// enter makes this a member of a founding.
func (m *Member) enter(f Founding) {
	m.founding = f
	m.cfg.Observer.Founded(f)
}

func (m *Member) machineConfig() membership.Config {
	return membership.Config{Self: m.self, Arity: m.cfg.Arity, Gather: proto.Time(m.cfg.Gather), Patience: proto.Time(m.cfg.Patience),
		Lease: m.cfg.leaseSpan(), Promise: proto.Time(m.cfg.Timeout), Metadata: m.cfg.Metadata}
}

// admittedBy takes the first message that has a view with this member in it. From it a joiner
// learns its number, and the founding.
func (m *Member) admittedBy(s *stream, x *membership.Message) bool {
	for _, v := range []*membership.View{x.View, x.Base} {
		if v == nil || v == x.View && x.Kind == membership.Propose {
			continue
		}
		for _, who := range v.Members {
			if m.cards[who].Nonce == m.card.Nonce {
				if m.freeBy(v); m.mustWait() {
					// It could be a member of one founding, and counted on for another.
					m.finish(errPromised)
					return false
				}
				if last := m.memory.token(); s.founding.Token(v.Number) <= last {
					m.finish(fmt.Errorf("%w: the group that lives has token %d, and this process has been in a view with token %d: the epoch has gone back",
						ErrRefused, s.founding.Token(v.Number), last))
					return false
				}
				m.self = who
				m.enter(s.founding)
				var request membership.Actions // dropped: it is in already
				m.machine = membership.NewJoiner(m.machineConfig(), []membership.Member{x.From}, m.now, &request)
				return true
			}
		}
	}
	return false
}

// settle carries out what the machines asked for: the membership's actions in their order, and
// before the detector's. Those of the membership may have to wait for the disk. The detector
// doesn't, not even for its base list: the others are already watching this member.
func (m *Member) settle() {
	for {
		switch {
		case len(m.out) > 0 && m.remembered():
			out := m.out
			m.out = nil
			for i := range out {
				m.act(&out[i])
			}
		case m.watchPending():
		case m.retry:
			m.retry = false
			m.retryHeld()
		case len(m.detections) > 0:
			out := m.detections
			m.detections = nil
			for i := range out {
				m.actDetector(&out[i])
			}
		case m.review:
			m.review = false
			for who := range m.endings {
				m.reviewEnding(who) // its end may have come before the view
			}
		default:
			return
		}
	}
}

// act carries out one action of the membership.
func (m *Member) act(a *membership.Action) {
	if m.ended != nil {
		return
	}
	switch a.Kind {
	case membership.Send:
		m.sendMembership(a.To, a.Message)
	case membership.Install:
		m.installed(a.View, a.Stable)
	case membership.Released:
		m.forgetGroup()
		m.finish(ErrLeft)
	case membership.Excluded:
		m.finish(ErrExcluded)
	case membership.Stalled:
		m.log.Warn("no quorum: too few members can be reached, and not all that are gone have ended for certain",
			"view", a.View.Number, "gone", m.departures(a.Gone), "ends in", m.cfg.Patience)
	case membership.Halted:
		m.finish(ErrMinority)
	}
}

// installed puts a view in force. First it tells the members that the view excludes, before
// anything is done in the view's name; then the detector gets its new base list.
func (m *Member) installed(v *membership.View, stable bool) {
	if m.log.Enabled(m.ctx, slog.LevelInfo) { // the names of a large group take their time
		m.log.Info("view", "number", v.Number, "token", m.founding.Token(v.Number), "members", m.names(v.Members), "joined", m.names(v.Joined), "gone", m.departures(v.Gone))
	}
	for _, d := range v.Gone {
		m.dismiss(d)
	}
	m.cfg.Observer.Installed(v, func(x membership.Member) Card { return m.cards[x] }, stable)
	select {
	case <-m.admitted:
	default:
		close(m.admitted)
	}
	m.keepView(v)
	m.forget(v)
	m.forgetPulses(v)
	m.watch(v)
	m.review = true
	m.readyAt = m.now + proto.Time(readyAfter)
	m.introduce(v, m.witnesses(v, 0))
}

// watchPending makes the detector watch the members of a view that waits for the disk, and says
// whether there was one.
func (m *Member) watchPending() (news bool) {
	for i := range m.out {
		if m.out[i].Kind == membership.Install && m.watch(m.out[i].View) {
			news = true
		}
	}
	return news
}

// watch gives the detector its base list, unless it has had it. It says whether that is news.
func (m *Member) watch(v *membership.View) bool {
	if v.Number <= m.watched {
		return false
	}
	m.watched = v.Number
	ring := detectorView(v)
	if m.detector == nil {
		m.detector = detector.New(detector.Config{
			Self: m.self.Proc, Incarnation: m.self.Incarnation, View: ring,
			Period: proto.Time(m.cfg.Period), Timeout: proto.Time(m.cfg.Timeout), Opinions: detector.DefaultOpinions,
		}, m.now, &m.detections)
	} else {
		m.detector.Install(m.now, ring, &m.detections)
	}
	return true
}

// A member is heard by so many others at least: by more in a group in which nearly every member can
// hear every other.
const (
	manyWitnesses = 8
	fewWitnesses  = 4
	smallGroup    = 16
)

// witnesses are the most senior members that can tell for certain that this one has ended, and some
// more: those whose kernel is this one's. Where no kernel is known they are the most senior
// members.
func (m *Member) witnesses(v *membership.View, more int) []membership.Member {
	var near []membership.Member
	for _, who := range v.Members {
		if m.cards[who].Home == m.card.Home {
			near = append(near, who)
		}
	}
	few := fewWitnesses
	if len(near) <= smallGroup {
		few = manyWitnesses
	}
	return near[:min(few+more, len(near))]
}

// introduce opens a stream to members that have none from this one, with a first frame: only then
// does the stream's end, which comes with this process's end, say something (see ending). The
// witnesses are among these members. So any death, even of several neighbours on the ring at
// once, is certain to some member, and to the next coordinator among the first, unless all
// witnesses die together.
func (m *Member) introduce(v *membership.View, to []membership.Member) {
	var first wire.Header
	detection.EncodeHeartbeat(detector.Beat{View: uint32(v.Number), Incarnation: m.self.Incarnation}, &first)
	for _, who := range to {
		if who != m.self && m.links[who] == nil {
			m.send(who, &first, nil)
		}
	}
}

// detectorView puts the members on a ring in the order of seniority.
func detectorView(v *membership.View) *detector.View {
	order, incarnations := make([]proto.Proc, len(v.Members)), make([]proto.Incarnation, len(v.Members))
	for i, x := range v.Members {
		order[i], incarnations[i] = x.Proc, x.Incarnation
	}
	ring, err := topology.NewRing(order)
	if err != nil {
		panic(err) // the members of a view are distinct
	}
	return &detector.View{Number: uint32(v.Number), Ring: ring, Incarnations: incarnations}
}

// dismiss ends the connections with a member that a view excludes, and tells it so first, in case
// it lives. If the stream ended in order without that word, the member would know that no view
// excluded it.
func (m *Member) dismiss(d membership.Departure) {
	if l := m.links[d.Member]; l != nil {
		if d.Why != membership.Died {
			m.sendMembership(d.Member, m.evictionOf())
		}
		l.finish()
		delete(m.links, d.Member)
	}
	if s := m.streams[d.Member]; s != nil {
		delete(m.streams, d.Member)
		s.close()
	}
	delete(m.endings, d.Member)
}

func (m *Member) evictionOf() *membership.Message {
	return &membership.Message{Kind: membership.Eviction, From: m.self, Number: m.machine.View().Number}
}

// forget drops the business cards of members that have been gone for more than one view, and
// reservations that are settled.
func (m *Member) forget(v *membership.View) {
	for who := range m.cards {
		if v.Excludes(who) && !isGone(v, who) {
			delete(m.cards, who)
		}
	}
	for name, r := range m.reserved {
		if r.injected && (v.Has(r.member) || v.Excludes(r.member)) {
			delete(m.reserved, name)
		}
	}
}

func isGone(v *membership.View, who membership.Member) bool {
	return slices.ContainsFunc(v.Gone, func(d membership.Departure) bool { return d.Member == who })
}

// sendMembership sends a message of the membership, with the business cards that its receiver may
// lack: a member lacks those of the members that joined with the views in the message; a member
// that has just joined lacks all.
func (m *Member) sendMembership(to membership.Member, x *membership.Message) {
	m.cfg.Observer.Sent(to, x)
	encode := views.AppendSteps
	if views.MayLack(to, x) {
		encode = views.Append
	}
	m.scratch = appendEnvelope(m.scratch[:0], encode(nil, x), m.cardsFor(to, x))
	m.send(to, &wire.Header{Kind: wire.KindMembership}, m.scratch)
}

func (m *Member) cardsFor(to membership.Member, x *membership.Message) []entry {
	all := views.MayLack(to, x)
	var list []entry
	for _, v := range [...]*membership.View{x.Base, x.View} {
		add := func(who membership.Member) {
			c, ok := m.cards[who]
			if twice := v == x.View && x.Base != nil && x.Base.Has(who); ok && !twice {
				list = append(list, entry{who, c})
			}
		}
		switch {
		case v == nil:
		case all:
			for _, who := range v.Members {
				add(who)
			}
			for _, d := range v.Gone {
				add(d.Member)
			}
		default:
			for _, who := range v.Joined {
				add(who)
			}
		}
	}
	return list
}
