package risk

import (
	"banyan/internal/study/field"
)

// Goal is what an operator demands.
type Goal struct {
	Platform
	// Risk is the accepted probability of more overlapping failures than the detector is proven
	// for.
	Risk float64
	// Rate is the number of heartbeats that each node may send in a second.
	Rate float64
	// Jitter is the longest time by which a live node's heartbeat may be late: scheduling,
	// paging, a congested network beyond τ.
	Jitter Seconds
	// FrameBytes is the length of a heartbeat on the wire.
	FrameBytes int
}

// Validate returns a *field.Error if a value is out of range.
func (g *Goal) Validate() error {
	if err := g.Platform.Validate(); err != nil {
		return err
	}
	if err := validateRisk(g.Risk); err != nil {
		return err
	}
	switch {
	case !(g.Rate > 0) || g.Rate > 1e9:
		return field.Errorf("rate", "%g: want more than 0 heartbeats a second", g.Rate)
	case !(g.Jitter >= 0):
		return field.Errorf("jitter", "must not be negative")
	case g.FrameBytes < 1:
		return field.Errorf("frame bytes", "%d: want at least 1", g.FrameBytes)
	}
	return nil
}

// Plan is the answer: η, δ, and their consequences.
type Plan struct {
	Goal
	MaxFailures    int     // M: overlapping failures covered
	LargestTimeout Seconds // δ may be no more, for the risk
	LeastTimeout   Seconds // δ may be no less, for accuracy at this η
	Limit          Limit   // what sets LeastTimeout

	Period  Seconds // η
	Timeout Seconds // δ

	Detection      Seconds // of one failure by its observer: average
	WorstDetection Seconds // likewise, at worst
	Stable1        Seconds // T(1): one failure, all nodes know, the ring is closed
	StableM        Seconds // T(M)
	Risk           float64 // P_T(M)(M) with this δ

	MessagesPerSecond float64 // sent by each node; as many are received
	BytesPerSecond    float64 // likewise
}

// Limit is the rule that sets the least δ.
type Limit uint8

// The rules that bound δ from below.
const (
	// LimitJitter is δ > η + τ + jitter: a later heartbeat would be taken for a death.
	LimitJitter Limit = iota
	// LimitStall is δ ≥ 4η + 2τ: the machine needs that to distinguish its own stall from its
	// emitter's silence.
	LimitStall
)

func (l Limit) String() string {
	if l == LimitStall {
		return "4η + 2τ, to recognise an own stall"
	}
	return "η + τ + jitter, lest a late heartbeat is a death"
}

const (
	// Beats is the recommended δ/η, the paper's ratio (section 5.3): a node is suspected only
	// after eight missing heartbeats in a row and a late ninth.
	Beats = 10
	// portPeriods is the least η/τ: with η ≥ 3τ broadcasts find room between
	// heartbeats on a one-port node (section 3.1.2), on which B(n) rests.
	portPeriods = 3
)

// Recommend chooses η and δ. η is as short as the allowed rate permits, and δ = 10η, or more if
// the jitter requires it. If that δ is above the largest for the risk, δ is reduced towards the
// least accurate one. If even that is too large, no η and δ meet the goal, and the error says
// which demand to relax.
func Recommend(g Goal) (Plan, error) {
	if err := g.Validate(); err != nil {
		return Plan{}, err
	}
	p := Plan{Goal: g, MaxFailures: MaxFailures(g.Nodes), LargestTimeout: g.LargestTimeout(g.Risk)}
	p.Period = max(Seconds(1/g.Rate), portPeriods*g.Tau)
	p.LeastTimeout, p.Limit = g.leastTimeout(p.Period)
	if p.LeastTimeout > p.LargestTimeout {
		return p, g.infeasible(&p)
	}
	p.Timeout = min(max(Beats*p.Period, p.LeastTimeout), p.LargestTimeout)

	// The last heartbeat was sent up to η before the failure, on average η/2, and took up to τ;
	// δ runs from its arrival.
	p.Detection = p.Timeout - p.Period/2 + g.Tau/2
	p.WorstDetection = p.Timeout + g.Tau
	p.Stable1 = g.Stabilisation(1, p.Timeout)
	p.StableM = g.Stabilisation(p.MaxFailures, p.Timeout)
	p.Risk = g.Platform.Risk(p.Timeout)
	p.MessagesPerSecond = float64(1 / p.Period)
	p.BytesPerSecond = p.MessagesPerSecond * float64(g.FrameBytes)
	return p, nil
}

// leastTimeout is the least accurate δ for an η, and the rule that sets it.
func (g *Goal) leastTimeout(period Seconds) (Seconds, Limit) {
	jitter, stall := period+g.Tau+g.Jitter, 4*period+2*g.Tau
	if jitter > stall {
		return jitter, LimitJitter
	}
	return stall, LimitStall
}

// infeasible says why no δ fits between its bounds.
func (g *Goal) infeasible(p *Plan) error {
	if p.LargestTimeout <= 0 {
		return field.Errorf("risk", "%g: no δ is short enough for it, as one of %d nodes fails every %v: accept more risk, or have fewer or better nodes",
			g.Risk, g.Nodes, g.Interval())
	}
	fastest, _ := g.leastTimeout(portPeriods * g.Tau)
	if fastest > p.LargestTimeout {
		return field.Errorf("risk", "%g: δ may be at most %v, but τ = %v and a jitter of %v need at least %v, however short η is: accept more risk, or have fewer or better nodes",
			g.Risk, p.LargestTimeout, g.Tau, g.Jitter, fastest)
	}
	return field.Errorf("rate", "%g heartbeats a second: δ may be at most %v for the risk, but η = %v needs at least %v (%v): allow more heartbeats, or more risk",
		g.Rate, p.LargestTimeout, p.Period, p.LeastTimeout, p.Limit)
}
