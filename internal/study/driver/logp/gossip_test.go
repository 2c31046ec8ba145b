package logp

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/field"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// lastByGossip runs a case with synchronised correction and returns when the last
// process was coloured by gossip, and when correction began.
func lastByGossip(t interface{ Fatal(...any) }, s *Simulator, c *Case) (last, correction proto.Time) {
	var b bytes.Buffer
	w := trace.NewWriter(&b, trace.Header{Procs: c.Procs})
	kind := make([]trace.Purpose, c.Procs) // by process: the kind of its last message
	correction = proto.Never
	if _, err := s.Run(c, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		switch e := parse(string(line)); {
		case e.Event == trace.Receive:
			kind[e.Proc] = trace.PurposeOf(e.Kind)
		case e.Event == trace.Coloured && kind[e.Proc] == trace.Dissemination:
			last = max(last, e.Time)
		case e.Event == trace.Send && trace.PurposeOf(e.Kind) == trace.Correction:
			correction = min(correction, e.Time)
		}
	}
	return last, correction
}

// parse reads a line of a trace, without its peer. trace.Read takes ten times as long.
func parse(line string) (e trace.Event) {
	for field := range strings.SplitSeq(strings.Trim(line, "{}\n"), ",") {
		name, value, _ := strings.Cut(field, ":")
		switch name {
		case `"t"`:
			t, _ := strconv.ParseInt(value, 10, 64)
			e.Time = proto.Time(t)
		case `"proc"`:
			p, _ := strconv.Atoi(value)
			e.Proc = proto.Proc(p)
		case `"event"`:
			e.Event = strings.Trim(value, `"`)
		case `"kind"`:
			e.Kind = strings.Trim(value, `"`)
		}
	}
	return e
}

// TestGossipEnd: synchronised correction starts when gossip can colour no further process,
// whichever processes are dead or die on the way, on any nodes and with any gap.
func TestGossipEnd(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		c.Tree, c.K, c.Numbering = Gossip, 0, topology.Interleaved
		c.Correction, c.Synchronised, c.Delay = broadcast.Checked, true, 0
		c.Distance, c.Unequal, c.LeftDistance = 0, false, 0
		c.Gossip = broadcast.Gossip{Seed: rapid.Uint64().Draw(t, "gossip seed")}
		if rapid.Bool().Draw(t, "timed") {
			c.Gossip.Until = proto.Time(rapid.IntRange(1, 60).Draw(t, "until"))
		} else {
			c.Gossip.Rounds = rapid.IntRange(1, 12).Draw(t, "rounds")
		}
		if rapid.Bool().Draw(t, "model") {
			drawModel(t, &c)
			c.Model.Noise = 0
			c.Model.Gap = c.Overhead + rapid.IntRange(0, 30).Draw(t, "gap")
		}
		last, correction := lastByGossip(t, &s, &c)
		if end := c.gossipEnd(); last > end || c.Procs > 1 && correction < end {
			t.Fatalf("gossip colours until %d, correction starts at %d, the end is given as %d", last, correction, end)
		}
	})
}

// TestGossipEndIsEarliest: one step before it, some process may still be coloured, with some
// seed.
func TestGossipEndIsEarliest(t *testing.T) {
	var s Simulator
	for _, g := range []broadcast.Gossip{{Until: 1}, {Until: 12}, {Rounds: 1}, {Rounds: 3}, {Rounds: 5}} {
		for _, n := range networks {
			c := Case{
				Procs: 1000, Latency: n.latency, Overhead: n.overhead, Tree: Gossip,
				Gossip: g, Correction: broadcast.Checked, Synchronised: true,
			}
			latest := proto.Time(0)
			for seed := range uint64(20) {
				c.Gossip.Seed = seed
				last, _ := lastByGossip(t, &s, &c)
				latest = max(latest, last)
			}
			// There may be a step in which no process could begin to send.
			if end := c.gossipEnd(); latest != end && (g.Rounds > 0 || n.overhead == 1) {
				t.Errorf("%+v, L=%d o=%d: the last is coloured at %d, %d is given", g, n.latency, n.overhead, latest, end)
			}
		}
	}
}

// TestGossipByHand: two processes leave no choice. The root sends to the other until the time
// is over, or in each round; the other sends back.
func TestGossipByHand(t *testing.T) {
	var s Simulator
	for _, x := range []struct {
		gossip             broadcast.Gossip
		messages, coloring int
		quiescence         proto.Time
	}{
		{broadcast.Gossip{Until: 1}, 1, 4, 4},
		{broadcast.Gossip{Until: 3}, 3, 4, 6},
		{broadcast.Gossip{Until: 6}, 6 + 2, 4, 9}, // coloured at 4, the other sends at 4 and 5
		{broadcast.Gossip{Rounds: 1}, 1, 4, 4},
		{broadcast.Gossip{Rounds: 3}, 3 + 2, 4, 9}, // in rounds 2 and 3
	} {
		c := Case{Procs: 2, Latency: 2, Overhead: 1, Tree: Gossip, Gossip: x.gossip}
		o, err := s.Run(&c, nil)
		if err != nil || o.Messages != x.messages || int(o.Coloring) != x.coloring || o.Quiescence != x.quiescence {
			t.Errorf("%+v: %+v (%v), want %+v", x.gossip, o, err, x)
		}
	}
}

// TestGossipPrefix: with one seed, longer gossip only adds: a process that is reached within
// some time is reached in any longer one. The searches rely on it.
func TestGossipPrefix(t *testing.T) {
	var s Simulator
	for seed := range uint64(10) {
		c := Case{Procs: 300, Latency: 2, Overhead: 1, Tree: Gossip, Gossip: broadcast.Gossip{Seed: seed}}
		var before []broadcast.State
		for c.Gossip.Until = 1; c.Gossip.Until < 40; c.Gossip.Until++ {
			if _, err := s.Run(&c, nil); err != nil {
				t.Fatal(err)
			}
			for p := range before {
				if before[p].Reached() && !s.run.states[p].Reached() {
					t.Fatalf("seed %d: gossip until %d doesn't reach %d, though a shorter one does", seed, c.Gossip.Until, p)
				}
			}
			before = append(before[:0], s.run.states...)
		}
	}
}

func TestGossipErrors(t *testing.T) {
	for want, change := range map[string]func(*Case){
		"gossip_time: 0: gossip wants a time or a number of rounds":      func(c *Case) { c.Gossip.Until = 0 },
		"gossip_time: -1: want 1 to 1048576":                             func(c *Case) { c.Gossip.Until = -1 },
		"gossip_rounds: 3: gossip ends by a time or by rounds, not both": func(c *Case) { c.Gossip.Rounds = 3 },
		"gossip_rounds: 32: want 1 to 31":                                func(c *Case) { c.Gossip = broadcast.Gossip{Rounds: 32} },
		"gossip_time: 20: a binomial tree has none":                      func(c *Case) { c.Tree = Binomial },
		"gossip_rounds: 2: a binomial tree has none":                     func(c *Case) { c.Tree, c.Gossip = Binomial, broadcast.Gossip{Rounds: 2} },
		"gossip_seed: 2: a binomial tree has none":                       func(c *Case) { c.Tree, c.Gossip = Binomial, broadcast.Gossip{Seed: 2} },
		"k: 2: a gossip tree has none":                                   func(c *Case) { c.K = 2 },
		"numbering: inorder: gossip has no numbering":                    func(c *Case) { c.Numbering = topology.InOrder },
		"correction: ack needs a tree, not gossip":                       func(c *Case) { c.Correction = broadcast.Acknowledged },
		"correction: delayed needs a tree, not gossip":                   func(c *Case) { c.Correction = broadcast.Delayed },
	} {
		c := Case{Procs: 16, Latency: 2, Overhead: 1, Tree: Gossip, Gossip: broadcast.Gossip{Until: 20}}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		var wrong *field.Error
		if err := c.Validate(); err == nil || err.Error() != want || !errors.As(err, &wrong) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
