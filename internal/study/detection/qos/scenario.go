package qos

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/study/driver/oneport"
	"banyan/internal/study/field"
)

// System is a detector over a kind of transport.
type System uint8

// The systems compared.
const (
	// Ring is internal/proto/detector over datagrams, which may be lost.
	Ring System = iota
	// RingStream is the same over streams, as real jobs run it: a lost message comes late.
	RingStream
	// Swim is internal/study/protocol/swim over datagrams, with targets drawn at random.
	Swim
	// SwimRoundRobin is the same with every member probed in turn, in a random
	// order.
	SwimRoundRobin

	systems
)

var systemNames = [systems]string{"ring", "ring-stream", "swim", "swim-rr"}

func (s System) String() string { return systemNames[s] }

// ParseSystem is the inverse of String.
func ParseSystem(name string) (System, error) {
	for s, n := range systemNames {
		if n == name {
			return System(s), nil
		}
	}
	return 0, fmt.Errorf("unknown system %q: want ring, ring-stream, swim or swim-rr", name)
}

func (s System) isRing() bool { return s == Ring || s == RingStream }

// Scenario is the conditions under which detectors are compared.
type Scenario struct {
	Nodes int
	// Period is η of the ring, and so the budget: one message for each node and period.
	Period proto.Time
	Tau    proto.Time // τ, of an uncontended message
	Loss   float64    // probability that a message is lost
	// Retransmit is how late a lost message is on a stream; each further loss
	// of it doubles that.
	Retransmit proto.Time
	// Every node runs for StallEvery on average, then stands still for Stall
	// on average; both exponentially distributed. Stall 0: never.
	Stall, StallEvery proto.Time
	// Cut is the share of pairs of nodes whose messages to each other don't
	// arrive, in any transport. The pairs are others each CutFor; 0: the same for ever.
	Cut    float64
	CutFor proto.Time
	// Deaths is how many neighbours on the ring die at the same time.
	Deaths int
}

// Validate says what is wrong with it.
func (s *Scenario) Validate() error {
	switch {
	case s.Nodes < 3 || s.Nodes > 4096:
		return field.Errorf("nodes", "%d: want 3 to 4096", s.Nodes)
	case s.Tau < 1:
		return field.Errorf("tau", "must be more than 0")
	case s.Period < 3*s.Tau:
		return field.Errorf("period", "must be 3τ at least")
	case !(s.Loss >= 0 && s.Loss < 1):
		return field.Errorf("loss", "%g: want a probability below 1", s.Loss)
	case s.Retransmit < 1:
		return field.Errorf("retransmit", "must be more than 0")
	case s.Stall < 0:
		return field.Errorf("stall", "must not be negative")
	case s.Stall > 0 && s.StallEvery < 1:
		return field.Errorf("stall-every", "must be more than 0")
	case !(s.Cut >= 0 && s.Cut <= 1):
		return field.Errorf("cut", "%g: want a share", s.Cut)
	case s.CutFor < 0:
		return field.Errorf("cut-for", "must not be negative")
	case s.Deaths < 1 || s.Deaths > s.Nodes-2:
		return field.Errorf("deaths", "%d: want 1 to %d", s.Deaths, s.Nodes-2)
	}
	return nil
}

// config is the network of a system in the scenario.
func (s *Scenario) config(system System, seed uint64) oneport.Config {
	c := oneport.Config{Nodes: s.Nodes, Tau: s.Tau, Loss: s.Loss, Seed: seed}
	if system == RingStream {
		c.Loss = 0 // the stream makes it a delay
	}
	if s.Stall > 0 {
		c.Load = oneport.Load{Share: 1, Every: s.StallEvery, Stalls: s.Stall}
	}
	return c
}
