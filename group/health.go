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

// Metrics takes figures, such as those of a monitoring system: an adapter of a few lines. Names
// have the form of Prometheus. label is the name of another member, or "".
type Metrics interface {
	// Counter sets a number that only rises while the member lives.
	Counter(name, label string, value float64)
	// Gauge sets a number that rises and falls.
	Gauge(name, label string, value float64)
}

// Report gives all figures to m. A program calls it when its monitoring asks, or now and then.
func (h *Health) Report(m Metrics) {
	m.Gauge("group_view_number", "", float64(h.View.Number))
	m.Gauge("group_members", "", float64(len(h.View.Members)))
	m.Gauge("group_view_changing", "", one(h.Changing))
	m.Gauge("group_disk_busy_seconds", "", h.DiskBusy.Seconds())
	m.Counter("group_heartbeats_total", "", float64(h.Heartbeats))
	m.Counter("group_late_heartbeats_total", "", float64(h.Late))
	m.Counter("group_frames_sent_total", "", float64(h.FramesSent))
	m.Counter("group_frames_received_total", "", float64(h.FramesReceived))
	m.Counter("group_bytes_sent_total", "", float64(h.BytesSent))
	m.Counter("group_bytes_received_total", "", float64(h.BytesReceived))
	for i := range h.Others {
		x := &h.Others[i]
		m.Gauge("group_member_suspected", x.Name, one(x.Suspicion != NotSuspected))
		m.Gauge("group_member_queued_bytes", x.Name, float64(x.Queued))
		if x.RoundTrip > 0 {
			m.Gauge("group_member_round_trip_seconds", x.Name, x.RoundTrip.Seconds())
		}
		if x.Heartbeats > 0 {
			m.Gauge("group_member_heartbeat_age_seconds", x.Name, x.SinceHeartbeat.Seconds())
		}
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
