package logp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// drawCase draws any valid case of up to 200 processes.
func drawCase(t *rapid.T) Case {
	c := Case{
		Procs:      rapid.IntRange(1, 200).Draw(t, "procs"),
		Latency:    rapid.IntRange(0, 9).Draw(t, "L"),
		Overhead:   rapid.IntRange(1, 4).Draw(t, "o"),
		Tree:       rapid.SampledFrom([]TreeKind{Binomial, KAry, Lame, Optimal}).Draw(t, "tree"),
		Numbering:  rapid.SampledFrom([]topology.Numbering{topology.Interleaved, topology.InOrder}).Draw(t, "numbering"),
		Correction: rapid.SampledFrom([]broadcast.Correction{broadcast.NoCorrection, broadcast.Acknowledged, broadcast.Checked, broadcast.Optimised, broadcast.SkipAhead, broadcast.Opportunistic, broadcast.Delayed, broadcast.Ordered, broadcast.FailureProof}).Draw(t, "correction"),
	}
	if rapid.IntRange(0, 3).Draw(t, "gossip") == 0 && c.Correction != broadcast.Acknowledged && c.Correction != broadcast.Delayed {
		c.Tree, c.Numbering = Gossip, topology.Interleaved
		c.Gossip.Seed = rapid.Uint64().Draw(t, "gossip seed")
		if rapid.Bool().Draw(t, "timed") {
			c.Gossip.Until = proto.Time(rapid.IntRange(1, 60).Draw(t, "until"))
		} else {
			c.Gossip.Rounds = rapid.IntRange(1, 12).Draw(t, "rounds")
		}
	}
	if c.Tree.NeedsK() {
		c.K = 1 + rapid.IntRange(0, 8).Draw(t, "k")
		if c.Tree == KAry {
			c.K++
		}
	}
	if c.Correction.Corrects() {
		c.Synchronised = rapid.Bool().Draw(t, "synchronised")
	}
	if c.Correction == broadcast.Delayed {
		c.Delay = rapid.IntRange(0, 20).Draw(t, "delay")
	}
	if c.Correction.HasDistance() {
		most := max(1, min(5, c.Procs-1))
		c.Distance = rapid.IntRange(1, most).Draw(t, "distance")
		if c.Unequal = rapid.Bool().Draw(t, "unequal"); c.Unequal {
			c.Distance, c.LeftDistance = rapid.IntRange(0, most).Draw(t, "right"), rapid.IntRange(1, most).Draw(t, "left")
			if c.Distance == c.LeftDistance {
				c.Unequal, c.LeftDistance = false, 0
			}
		}
	}
	dead := rapid.IntRange(0, c.Procs-1).Draw(t, "dead")
	if err := c.FailRandom(dead/3, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOutcomes: for every case, the outcome agrees with the trace, the trace obeys the model,
// and a simulator that was used before gives the same.
func TestOutcomes(t *testing.T) {
	var used Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		var text bytes.Buffer
		w := trace.NewWriter(&text, c.TraceHeader())
		got, err := used.Run(&c, w)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		fresh, err := new(Simulator).Run(&c, nil)
		if err != nil || fresh != got {
			t.Fatalf("a used simulator: %+v, a new one: %+v (%v)", got, fresh, err)
		}
		if want := replay(t, &c, &text); want != got {
			t.Fatalf("outcome %+v, its trace says %+v", got, want)
		}
		if covered := c.Correction == broadcast.Checked || c.Correction == broadcast.Delayed || c.Correction == broadcast.FailureProof || len(c.Failed) == 0 && c.Tree != Gossip; covered && got.Unreached != 0 {
			t.Fatalf("%d live processes unreached", got.Unreached)
		}
	})
}

// replay reads a trace, checks it against the model and returns the broadcast's outcome.
func replay(t *rapid.T, c *Case, text *bytes.Buffer) Outcome {
	dead := func(p proto.Proc) bool { return slices.Contains(c.Failed, int(p)) }
	type message struct{ from, to proto.Proc }
	sentAt := map[message][]proto.Time{} // not yet received
	lastSend, lastReceive := map[proto.Proc]proto.Time{}, map[proto.Proc]proto.Time{}
	coloured, reached := map[proto.Proc]bool{}, map[proto.Proc]bool{0: true}
	var o Outcome
	overhead, latency := proto.Time(c.Overhead), proto.Time(c.Latency)
	now := proto.Time(0)
	_, err := trace.Read(text, func(e trace.Event) error {
		if e.Time < now {
			t.Fatalf("time runs backwards: %+v", e)
		}
		now = e.Time
		switch e.Event {
		case trace.Send:
			if before, ok := lastSend[e.Proc]; ok && e.Time < before+overhead || !coloured[e.Proc] || dead(e.Proc) {
				t.Fatalf("sends while it can't: %+v", e)
			}
			lastSend[e.Proc] = e.Time
			m := message{e.Proc, e.Peer}
			sentAt[m] = append(sentAt[m], e.Time)
			o.Messages++
		case trace.Receive, trace.Drop:
			m := message{e.Peer, e.Proc}
			if len(sentAt[m]) == 0 {
				t.Fatalf("nothing was sent: %+v", e)
			}
			took := e.Time - sentAt[m][0]
			sentAt[m] = sentAt[m][1:]
			o.Quiescence = e.Time
			if e.Event == trace.Drop {
				if took != overhead+latency || !dead(e.Proc) {
					t.Fatalf("after %d: %+v", took, e)
				}
				break
			}
			before, ok := lastReceive[e.Proc]
			if took < 2*overhead+latency || ok && e.Time < before+overhead || dead(e.Proc) {
				t.Fatalf("after %d: %+v", took, e)
			}
			lastReceive[e.Proc] = e.Time
			reached[e.Proc] = reached[e.Proc] || trace.PurposeOf(e.Kind) == trace.Dissemination
		case trace.Coloured:
			if coloured[e.Proc] {
				t.Fatalf("coloured twice: %+v", e)
			}
			coloured[e.Proc] = true
			o.Coloring = e.Time
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for m, times := range sentAt {
		if len(times) > 0 {
			t.Fatalf("%d messages from %d never came to %d", len(times), m.from, m.to)
		}
	}
	o.Unreached = c.Procs - len(c.Failed) - len(coloured)
	gap := 0
	for p := range proto.Proc(c.Procs) {
		if gap++; reached[p] {
			gap = 0
		}
		o.MaxGap = max(o.MaxGap, gap)
	}
	return o
}

// TestAcknowledgedWithDead: the root of an acknowledged tree with a dead child never becomes
// quiet, which means done. The simulation ends all the same.
func TestAcknowledgedWithDead(t *testing.T) {
	var s Simulator
	c := Case{Procs: 64, Latency: 2, Overhead: 1, Tree: Binomial, Correction: broadcast.Acknowledged}
	for _, failed := range [][]int{nil, {63}, {1}} {
		c.Failed = failed
		if _, err := s.Run(&c, nil); err != nil {
			t.Fatal(err)
		}
		if done := s.run.states[0].Done(); done != (failed == nil) {
			t.Errorf("dead %v: the root is done: %v", failed, done)
		}
	}
}

// TestNoAllocation: the allocations of a simulator that was used before don't grow with the
// messages.
func TestNoAllocation(t *testing.T) {
	tree := Case{Procs: 4096, Latency: 2, Overhead: 1, Tree: Binomial, Correction: broadcast.Checked, Synchronised: true}
	gossip := tree
	gossip.Tree, gossip.Gossip = Gossip, broadcast.Gossip{Until: 30}
	delayed := tree
	delayed.Correction, delayed.Delay, delayed.Synchronised = broadcast.Delayed, 3, false
	for _, c := range []Case{tree, gossip, delayed} {
		var s Simulator
		n := testing.AllocsPerRun(5, func() {
			if _, err := s.Run(&c, nil); err != nil {
				t.Fatal(err)
			}
		})
		if n > 20 {
			t.Errorf("%s: %v allocations", c.Describe(), n)
		}
	}
}
