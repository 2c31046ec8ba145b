package correctedtrees

import (
	"context"
	"math"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
)

// TestGossipSafety compares what gossip alone tells with the engine: the safe time for each number
// of corrections, in both directions and in one; how many processes each time leaves to correction;
// and the messages.
func TestGossipSafety(t *testing.T) {
	const procs, runs, seed = 500, 20, 9
	e := experiment{Parameters: small(2), progress: func(string, int, int) {}}
	s, err := e.studyGossipSafety(context.Background(), "", procs, runs, seed)
	if err != nil {
		t.Fatal(err)
	}
	var engine logp.Simulator
	for k, corrections := range gossipCorrections {
		for _, oneWay := range []bool{false, true} {
			c := gossipCase(procs, broadcast.Opportunistic, corrections/2)
			if oneWay {
				c.Distance, c.Unequal = corrections, true
			} else if corrections == 1 {
				continue
			}
			for i := range runs {
				c.Gossip.Seed = seed + uint64(i)
				for _, time := range []int32{s.runs[i].Needs[k] - 1, s.runs[i].Needs[k]} {
					if time == 0 {
						continue
					}
					c.Gossip.Until = proto.Time(time)
					o, err := engine.Run(&c, nil)
					if err != nil {
						t.Fatal(err)
					}
					if safe := time == s.runs[i].Needs[k]; safe != (o.Unreached == 0) {
						t.Fatalf("%s, seed %d: %d unreached, safe: %v", c.Describe(), c.Gossip.Seed, o.Unreached, safe)
					}
				}
			}
		}
		time := s.safe(k)
		if s.unsafe(k, time) != 0 || s.unsafe(k, time-1) == 0 {
			t.Errorf("%d corrections: %d is not the shortest safe time", corrections, time)
		}
		c := gossipCase(procs, broadcast.Opportunistic, 0)
		c.Distance, c.Unequal, c.Gossip.Until = corrections, true, proto.Time(time)
		messages := 0
		for i := range runs {
			c.Gossip.Seed = seed + uint64(i)
			o, err := engine.Run(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			messages += o.Messages
		}
		if got, want := s.messages(corrections, time), float64(messages)/procs/runs; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d corrections: %g messages per process, the engine sends %g", corrections, got, want)
		}
	}
	// The search of package logp finds the same.
	c := gossipCase(procs, broadcast.Opportunistic, 2)
	c.Gossip.Seed = seed
	if want, err := (&logp.GossipSearch{Case: c, Runs: runs, Workers: 2}).Safe(); err != nil || int(want) != s.safe(slices.Index(gossipCorrections[:], 4)) {
		t.Errorf("the search finds %d (%v), gossip alone %d", want, err, s.safe(2))
	}
}

// TestGossipExtrapolation: the safe time for many broadcasts, as extrapolated from a tenth of them,
// is the one that they need, or beside it; and so many are unsafe before as are expected.
func TestGossipExtrapolation(t *testing.T) {
	const procs, runs = 1024, 2000
	e := experiment{Parameters: small(2), progress: func(string, int, int) {}}
	all, err := e.studyGossipSafety(context.Background(), "", procs, runs, 1)
	if err != nil {
		t.Fatal(err)
	}
	few := *all
	few.runs = all.runs[:runs/10]
	for k, corrections := range gossipCorrections {
		if got, want := few.extrapolated(k, runs), all.safe(k); got < want-1 || got > want+1 {
			t.Errorf("%d corrections: %d steps are extrapolated, %d needed", corrections, got, want)
		}
		for time := range all.until {
			expected, found := all.expected(k, time), float64(all.unsafe(k, time))
			if math.Abs(found-expected) > 5*math.Sqrt(expected*(1-expected/runs))+3 {
				t.Errorf("%d corrections, %d steps: %g of %d unsafe, %.1f expected", corrections, time, found, runs, expected)
			}
		}
	}
	few.until = few.safe(0) - 2 // too short
	if got, want := few.extrapolated(0, runs), all.safe(0); got < want-2 || got > want+2 {
		t.Errorf("beyond the time of all runs: %d steps, want about %d", got, want)
	}
}
