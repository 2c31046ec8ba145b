package groupnode

import (
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
)

// Health is what a member knows of how well it and its group do.
type Health struct {
	Number  uint64 // of the view in force
	Members []MemberHealth
	Traffic Traffic
	// Late is how many heartbeats came more than two periods after the one before.
	Heartbeats, Late uint64
	// Changing says that this member has accepted a next view that isn't in force yet.
	Changing bool
	// DiskBusy is how long a write of what this member remembers has been under way; 0: none is.
	DiskBusy time.Duration
}

// MemberHealth is what is known of another member.
type MemberHealth struct {
	Member    membership.Member
	Card      Card
	Connected bool          // a link to it is up
	RoundTrip time.Duration // as the kernel measures it on the link; 0: unknown
	Queued    int           // bytes that wait to be sent to it
	// The next three are of members that send this one heartbeats.
	Heartbeats, Late uint64
	Heard            time.Duration // since the last one
	Longest          time.Duration // between two
	Suspicion        Suspicion
}

// Suspicion says why a member may be gone.
type Suspicion uint8

const (
	NotSuspected Suspicion = iota
	// Unreachable: a connection with it has broken.
	Unreachable
	// Overdue: its heartbeats don't come.
	Overdue
	// TakenForDead: the next view won't have it.
	TakenForDead
)

// Traffic counts frames, and bytes without those of handshakes and seals.
type Traffic struct {
	FramesSent, FramesReceived, BytesSent, BytesReceived uint64
}

// pulse is what is known of a member's heartbeats.
type pulse struct {
	last, longest proto.Time
	count, late   uint64
}

// heardFrame counts a frame, and notes a heartbeat.
func (m *Member) heardFrame(from membership.Member, h *wire.Header, payload []byte) {
	m.traffic.FramesReceived++
	m.traffic.BytesReceived += uint64(wire.HeaderSize + len(payload))
	if h.Kind != wire.KindHeartbeat {
		return
	}
	p := m.pulses[from]
	if p == nil {
		p = &pulse{last: m.now}
		m.pulses[from] = p
	}
	gap := m.now - p.last
	p.last, p.longest = m.now, max(p.longest, gap)
	p.count++
	m.heartbeats++
	if gap > 2*proto.Time(m.cfg.Period) {
		p.late++
		m.late++
	}
}

// forgetPulses forgets those of members that are gone.
func (m *Member) forgetPulses(v *membership.View) {
	for who := range m.pulses {
		if v.Excludes(who) {
			delete(m.pulses, who)
		}
	}
}

// Health returns what this member knows now. ok is false after its end.
func (m *Member) Health() (h Health, ok bool) {
	reply := make(chan Health, 1)
	m.post(func() { reply <- m.health() })
	select {
	case h = <-reply:
		return h, true
	case <-m.over:
		return h, false
	}
}

func (m *Member) health() Health {
	v := m.machine.View()
	h := Health{Number: v.Number, Traffic: m.traffic, Heartbeats: m.heartbeats, Late: m.late, Changing: m.machine.Accepted() != nil}
	if m.memory.busy {
		h.DiskBusy = time.Duration(m.clock() - m.memory.since)
	}
	for _, who := range v.Members {
		if who == m.self {
			continue
		}
		x := MemberHealth{Member: who, Card: m.cards[who]}
		if l := m.links[who]; l != nil {
			x.Connected, x.RoundTrip, x.Queued = l.health()
		}
		if p := m.pulses[who]; p != nil {
			x.Heartbeats, x.Late = p.count, p.late
			x.Heard, x.Longest = time.Duration(m.clock()-p.last), time.Duration(p.longest)
		}
		x.Suspicion = m.suspicion(who)
		h.Members = append(h.Members, x)
	}
	return h
}

// suspicion is the strongest that there is of a member.
func (m *Member) suspicion(who membership.Member) Suspicion {
	e := m.endings[who]
	switch {
	case m.machine.Gone(who):
		return TakenForDead
	case m.detector.Emitter() == who.Proc && m.now-m.detector.Heard() > proto.Time(m.cfg.Timeout)/2:
		return Overdue
	case e != nil && (e.ended || e.lost || e.suspected):
		return Unreachable
	}
	return NotSuspected
}

// health is what a link says of the way to its member.
func (l *link) health() (up bool, roundTrip time.Duration, queued int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if up = l.socket != nil && !l.down; up {
		l.socket.Control(func(fd uintptr) { roundTrip = measuredRoundTrip(fd) })
	}
	return up, roundTrip, len(l.queue)
}
