package logp

import (
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/field"
	"banyan/internal/topology"
)

// validateGossip checks a case's gossip.
func (c *Case) validateGossip() error {
	g := c.Gossip
	if c.Tree != Gossip {
		switch {
		case g.Until != 0:
			return field.Errorf("gossip_time", "%d: a %s tree has none", g.Until, c.Tree)
		case g.Rounds != 0:
			return field.Errorf("gossip_rounds", "%d: a %s tree has none", g.Rounds, c.Tree)
		case g.Seed != 0:
			return field.Errorf("gossip_seed", "%d: a %s tree has none", g.Seed, c.Tree)
		}
		return nil
	}
	switch {
	case c.Numbering != topology.Interleaved:
		return field.Errorf("numbering", "%v: gossip has no numbering", c.Numbering)
	case c.Correction == broadcast.Acknowledged || c.Correction == broadcast.Delayed:
		return field.Errorf("correction", "%v needs a tree, not gossip", c.Correction)
	case g.Until == 0 && g.Rounds == 0:
		return field.Errorf("gossip_time", "0: gossip wants a time or a number of rounds")
	case g.Until != 0 && g.Rounds != 0:
		return field.Errorf("gossip_rounds", "%d: gossip ends by a time or by rounds, not both", g.Rounds)
	case g.Until < 0 || g.Until > maxGossip:
		return field.Errorf("gossip_time", "%d: want 1 to %d", g.Until, maxGossip)
	case g.Rounds < 0 || g.Rounds > broadcast.MaxRounds:
		return field.Errorf("gossip_rounds", "%d: want 1 to %d", g.Rounds, broadcast.MaxRounds)
	}
	return nil
}

// maxGossip bounds the time of gossip: each process that has the message sends during all of
// that time.
const maxGossip = 1 << 20

// gossipEnd is a time by which every process that gossip colours is coloured, whichever
// processes are dead and whatever the seed. It disregards noise, as for trees.
//
// An uncoloured process has received nothing, so it receives its first message as that arrives: a
// message that colours takes 2o + L, however many others wait. The last sends begin one step
// before the time is over. With rounds, a process that is coloured in round r sends for round r+1
// at once; so a chain of first messages, one a round, is the slowest way to the last round,
// unless g is longer than a message takes.
func (c *Case) gossipEnd() proto.Time {
	latency := c.Latency
	if c.Model.Nodes.Size > 0 {
		latency = max(latency, c.Model.LatencyWithin)
	}
	takes := proto.Time(2*c.Overhead + latency)
	if c.Gossip.Rounds > 0 {
		return proto.Time(c.Gossip.Rounds-1)*max(takes, proto.Time(c.Model.Gap)) + takes
	}
	return c.Gossip.Until - 1 + takes
}
