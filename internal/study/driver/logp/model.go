package logp

import (
	"math"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

// Model is what a case may have beyond plain LogP with a gap of o. The zero Model adds nothing.
type Model struct {
	// Gap is g, the least time between the beginnings of two sends of a process, and of two
	// receives. 0 means o; any other value is at least o.
	Gap int
	// Nodes are the nodes on which the processes run. Messages within a node take LatencyWithin
	// instead of the case's latency.
	Nodes         Nodes
	LatencyWithin int
	// Noise is the largest amount by which a message's latency is longer. The seed chooses it
	// for each message, all amounts equally likely. Messages may overtake each other by it.
	Noise     int
	NoiseSeed uint64
}

func (m *Model) validate(c *Case) error {
	switch {
	case m.Gap != 0 && m.Gap < c.Overhead || m.Gap > math.MaxInt32:
		return field.Errorf("gap", "gap %d: want at least the overhead %d, or 0 for that", m.Gap, c.Overhead)
	case m.Noise < 0 || m.Noise > math.MaxInt32:
		return field.Errorf("noise", "%d: want 0 to %d", m.Noise, math.MaxInt32)
	case m.LatencyWithin < 0 || m.LatencyWithin > math.MaxInt32:
		return field.Errorf("latency_within", "latency %d: want 0 to %d", m.LatencyWithin, math.MaxInt32)
	case m.LatencyWithin != 0 && m.Nodes.Size == 0:
		return field.Errorf("latency_within", "%d: there are no nodes", m.LatencyWithin)
	}
	return m.Nodes.validate(c.Procs)
}

// plain says whether a Network suffices.
func (m *Model) plain(c *Case) bool {
	return (m.Gap == 0 || m.Gap == c.Overhead) && m.Nodes.Size == 0 && m.Noise == 0
}

// model is a Model ready for use.
type model struct {
	overhead, gap   proto.Time
	latency, within proto.Time
	node            []int32 // of each process; nil: no nodes
	noise           int64
	random          *rand.Rand
}

func newModel(c *Case) *model {
	m := &model{
		overhead: proto.Time(c.Overhead), gap: proto.Time(max(c.Model.Gap, c.Overhead)),
		latency: proto.Time(c.Latency), within: proto.Time(c.Model.LatencyWithin),
		noise: int64(c.Model.Noise), random: rand.New(rand.NewPCG(c.Model.NoiseSeed, 0)),
	}
	if c.Model.Nodes.Size > 0 {
		m.node = c.Model.Nodes.Of(c.Procs)
	}
	return m
}

// quiet is the latency between two processes, without noise.
func (m *model) quiet(from, to int) proto.Time {
	if m.node != nil && m.node[from] == m.node[to] {
		return m.within
	}
	return m.latency
}

// travel is the latency of the next message.
func (m *model) travel(x Message) proto.Time {
	l := m.quiet(x.From(), x.To())
	if m.noise > 0 {
		l += proto.Time(m.random.Int64N(m.noise + 1))
	}
	return l
}
