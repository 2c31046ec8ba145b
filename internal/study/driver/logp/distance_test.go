package logp

import (
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
)

func TestSetDistance(t *testing.T) {
	for text, want := range map[string]Case{
		"":    {},
		"4":   {Distance: 4},
		"0":   {},
		"3:3": {Distance: 3},
		"0:4": {Distance: 4, Unequal: true},
		"2:1": {Distance: 1, Unequal: true, LeftDistance: 2},
	} {
		c := Case{Distance: 9, Unequal: true, LeftDistance: 9}
		err := c.SetDistance(text)
		if err != nil || c.Distance != want.Distance || c.Unequal != want.Unequal || c.LeftDistance != want.LeftDistance {
			t.Errorf("%q: %+v (%v)", text, c, err)
		}
	}
	for _, text := range []string{"x", ":", "1:", ":1", "1:2:3", "1.5", "1,2"} {
		if err := new(Case).SetDistance(text); err == nil {
			t.Errorf("%q is no distance", text)
		}
	}
	for want, c := range map[string]Case{
		"distance: 0:1: correction checked has none":                    {Correction: broadcast.Checked, Distance: 1, Unequal: true},
		"distance: 2 to the left: distances are equal":                  {Correction: broadcast.Optimised, Distance: 1, LeftDistance: 2},
		"distance: correction distances 0 and 0: want one of 1 or more": {Correction: broadcast.Optimised, Unequal: true},
	} {
		c.Procs, c.Latency, c.Overhead, c.Tree = 8, 2, 1, Binomial
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// drawOpportunistic draws a case with overlapped opportunistic correction of one of some kinds.
func drawOpportunistic(t *rapid.T, kinds ...broadcast.Correction) Case {
	c := drawCase(t)
	c.Synchronised, c.Delay = false, 0
	c.Correction = rapid.SampledFrom(kinds).Draw(t, "kind")
	if c.Distance == 0 {
		c.Distance = 1
	}
	return c
}

// TestOverlappedReaches: overlapped opportunistic correction reaches every live process, unless
// as many dead processes as its larger distance are in a row. It corrects in both directions or
// in one. (Optimised correction, as printed, promises that for one direction only.)
func TestOverlappedReaches(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawOpportunistic(t, broadcast.Opportunistic, broadcast.SkipAhead, broadcast.Ordered, broadcast.Optimised)
		if c.Correction == broadcast.Optimised && !(c.Unequal && min(c.Distance, c.LeftDistance) == 0) {
			c.Correction = broadcast.SkipAhead
		}
		dead := NewSet(c.Procs)
		most := max(c.Distance, c.LeftDistance) - 1 // dead processes in a row
		kept, run, last := c.Failed[:0], 0, 0
		for _, f := range c.Failed {
			if f != last+1 {
				run = 0
			}
			if run < most {
				run, last = run+1, f
				kept = append(kept, f)
				dead.Add(f)
			}
		}
		c.Failed = kept
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Unreached != 0 {
			t.Fatalf("%d live processes unreached", o.Unreached)
		}
	})
}

// TestEarlyCorrection: overlapped corrections colour no process later than the tree alone does.
// In a binomial tree, whose processes finish at different times (section 4.1), they colour many
// earlier. A process that is coloured early still sends to its children.
func TestEarlyCorrection(t *testing.T) {
	var s Simulator
	rapid.Check(t, func(t *rapid.T) {
		c := drawOpportunistic(t, broadcast.Opportunistic, broadcast.SkipAhead, broadcast.Ordered, broadcast.Optimised)
		if c.Tree == Gossip {
			c.Tree, c.Gossip = Binomial, broadcast.Gossip{}
		}
		with := colouredAt(t, &s, c)
		c.Correction, c.Distance, c.Unequal, c.LeftDistance = broadcast.NoCorrection, 0, false, 0
		for p, at := range colouredAt(t, &s, c) {
			if with[p] > at {
				t.Fatalf("%d is coloured at %d, without correction at %d", p, with[p], at)
			}
		}
	})
	c := Case{Procs: 4096, Latency: 2, Overhead: 1, Tree: Binomial, Correction: broadcast.Optimised, Distance: 4}
	with, err := s.Run(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Correction, c.Distance = broadcast.NoCorrection, 0
	without, err := s.Run(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if with.MaxGap != 0 || with.Coloring >= without.Coloring {
		t.Errorf("with early correction %+v, without %+v", with, without)
	}
}

// colouredAt is when each process is coloured; Never if it isn't.
func colouredAt(t *rapid.T, s *Simulator, c Case) []proto.Time {
	config, failed, err := c.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.runDetailed(&c, config, failed, nil, func(r *run) Machines { return r }); err != nil {
		t.Fatal(err)
	}
	for p := range s.run.times {
		if !s.run.states[p].Coloured() {
			s.run.times[p] = proto.Never
		}
	}
	return append([]proto.Time{}, s.run.times...)
}
