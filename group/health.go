package group

import (
	"fmt"
	"time"

	"banyan/internal/groupnode"
)

// Health is what a member knows of how well it and the others do, at one moment. It is this
// member's own opinion: others may have another one. Views say what all have agreed on.
type Health struct {
	// View is the view in force here.
	View View
	// Others are the members of the view but for this one.
	Others []MemberHealth
	// Changing says that this member has agreed to a next view, and doesn't know yet whether all
	// have.
	Changing bool
	// DiskBusy is how long a write to Config.Dir has been under way, 0 if none is. The next view
	// waits for it. A member whose disk takes five time-outs, and 10 s, ends.
	DiskBusy time.Duration
	// Heartbeats counts those that came, Late those that came more than two periods after the one
	// before. Late ones are the first sign of a machine or a network that has too much to do.
	Heartbeats, Late uint64
	// Frames and bytes of all that members say to each other, without handshakes.
	FramesSent, FramesReceived, BytesSent, BytesReceived uint64
}

// MemberHealth is what is known of another member. A member watches only one other's heartbeats,
// except while views change, and it is connected with its neighbours and with the first members.
type MemberHealth struct {
	Identity
	// Connected says that this member has a connection to it.
	Connected bool
	// RoundTrip is how long a packet takes to it and back, as TCP measures it on that connection.
	// It is 0 if nobody has measured it, as on systems other than Linux.
	RoundTrip time.Duration
	// Queued is how many bytes wait to be sent to it.
	Queued int
	// Heartbeats that came from it, and of these the Late ones. They are 0 if it sends none to
	// this member.
	Heartbeats, Late uint64
	// SinceHeartbeat is how long ago the last one came, LongestGap the longest time between two.
	SinceHeartbeat, LongestGap time.Duration
	// Suspicion says why it may be gone, as far as this member knows.
	Suspicion Suspicion
}

// Suspicion says why a member may be gone.
type Suspicion uint8

const (
	// NotSuspected: nothing speaks against it.
	NotSuspected Suspicion = iota
	// Unreachable: a connection with it has broken.
	Unreachable
	// Overdue: no heartbeat has come for half the time-out. Others are asked about it.
	Overdue
	// TakenForDead: the next view won't have it.
	TakenForDead
)

var suspicions = [...]string{"none", "unreachable", "overdue", "taken for dead"}

func (s Suspicion) String() string {
	if int(s) < len(suspicions) {
		return suspicions[s]
	}
	return fmt.Sprintf("suspicion %d", uint8(s))
}

// MarshalText is the word that String returns.
func (s Suspicion) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Suspicion) UnmarshalText(text []byte) error {
	for i, word := range suspicions {
		if word == string(text) {
			*s = Suspicion(i)
			return nil
		}
	}
	return fmt.Errorf("suspicion %.20q: want one of %q", text, suspicions)
}

// Health returns what this member knows now. After the member's end it is the last view, and ok
// is false. It sends nothing, and waits for the member's own goroutine only.
func (m *Member) Health() (h Health, ok bool) {
	for {
		n, ok := m.node.Health()
		v := m.Latest()
		switch {
		case !ok:
			return Health{View: v}, false
		case v.Number == n.Number || n.DiskBusy > 0:
			return healthOf(v, &n), true
		}
		// The next view has come meanwhile.
	}
}

func healthOf(v View, n *groupnode.Health) Health {
	h := Health{
		View: v, Changing: n.Changing, DiskBusy: n.DiskBusy, Heartbeats: n.Heartbeats, Late: n.Late,
		FramesSent: n.Traffic.FramesSent, FramesReceived: n.Traffic.FramesReceived, BytesSent: n.Traffic.BytesSent, BytesReceived: n.Traffic.BytesReceived,
	}
	for _, x := range n.Members {
		h.Others = append(h.Others, MemberHealth{
			Identity:  Identity{Name: x.Card.Name, Incarnation: uint32(x.Member.Incarnation), Address: x.Card.Address},
			Connected: x.Connected, RoundTrip: x.RoundTrip, Queued: x.Queued, Heartbeats: x.Heartbeats, Late: x.Late,
			SinceHeartbeat: x.Heard, LongestGap: x.Longest, Suspicion: Suspicion(x.Suspicion),
		})
	}
	return h
}

// metrics are the figures for operators: see [Member.Metrics].
func (h *Health) metrics() []Metric {
	suspected := 0
	for i := range h.Others {
		if h.Others[i].Suspicion != NotSuspected {
			suspected++
		}
	}
	gauge := func(name, help string, value float64) Metric {
		return Metric{Name: "banyan_group_" + name, Help: help, Value: value}
	}
	count := func(name, help string, value uint64) Metric {
		return Metric{Name: "banyan_group_" + name, Help: help, Counter: true, Value: float64(value)}
	}
	return []Metric{
		gauge("suspected", "Members of the view that this member suspects.", float64(suspected)),
		gauge("disk_busy_seconds", "How long a write to Config.Dir has been under way.", h.DiskBusy.Seconds()),
		count("heartbeats_total", "Heartbeats that came.", h.Heartbeats),
		count("late_heartbeats_total", "Heartbeats that came more than two periods after the one before.", h.Late),
		count("sent_bytes_total", "Bytes that this member has sent to others.", h.BytesSent),
		count("received_bytes_total", "Bytes that it has got from others.", h.BytesReceived),
	}
}
