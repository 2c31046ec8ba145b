package logp

import (
	"errors"
	"math"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
)

// search searches for the gossip time of a small case with this correction.
func search(c broadcast.Correction, workers int) *GossipSearch {
	g := &GossipSearch{
		Case: Case{
			Procs: 100, Latency: 2, Overhead: 1, Tree: Gossip,
			Gossip: broadcast.Gossip{Seed: 100}, Correction: c, Synchronised: true,
		},
		Runs: 10, Workers: workers,
	}
	if c.HasDistance() {
		g.Case.Distance = 2
	}
	return g
}

// average is the average over the runs of a search, at one time. It doesn't use the search's
// code.
func average(t *testing.T, g *GossipSearch, until proto.Time) (latency float64, unreached int) {
	t.Helper()
	var s Simulator
	c := g.Case
	c.Gossip.Until = until
	for range g.Runs {
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		latency += float64(o.Quiescence) / float64(g.Runs)
		unreached += o.Unreached
		c.Gossip.Seed++
	}
	return latency, unreached
}

// TestFastestGossip: no other possible time is better, also where sends are three steps apart,
// so that not every time makes a difference.
func TestFastestGossip(t *testing.T) {
	for _, overhead := range []int{1, 3} {
		averages := make([]float64, 40*overhead)
		for other := 1; other < len(averages); other++ {
			g := search(broadcast.Checked, 1)
			g.Case.Overhead = overhead
			averages[other], _ = average(t, g, proto.Time(other))
		}
		for _, workers := range []int{1, 3} {
			g := search(broadcast.Checked, workers)
			g.Case.Overhead = overhead
			until, latency, err := g.Fastest()
			if err != nil {
				t.Fatal(err)
			}
			for other, average := range averages {
				switch {
				case other == 0:
				case proto.Time(other) == until && math.Abs(average-latency) > 1e-9,
					average < latency-1e-9, proto.Time(other) < until && average < latency+1e-9:
					t.Errorf("o = %d, %d workers: the best is %d with %g, at %d it is %g", overhead, workers, until, latency, other, average)
				}
			}
		}
	}
	for _, procs := range []int{1, 2, 3} {
		g := search(broadcast.Checked, 1)
		g.Case.Procs = procs
		if until, _, err := g.Fastest(); err != nil || until != 1 {
			t.Errorf("%d processes gossip for %d (%v)", procs, until, err)
		}
	}
}

// TestSafeGossip: the time leaves no live process uncoloured, and a time one step shorter
// leaves some.
func TestSafeGossip(t *testing.T) {
	for _, workers := range []int{1, 3} {
		g := search(broadcast.Opportunistic, workers)
		runs := 0
		g.Progress = func() error { runs++; return nil }
		until, err := g.Safe()
		if err != nil || runs != g.Runs {
			t.Fatalf("%d runs of %d (%v)", runs, g.Runs, err)
		}
		for time, reached := range map[proto.Time]bool{until: true, until + 1: true, until + 7: true, until - 1: false} {
			if _, unreached := average(t, g, time); (unreached == 0) != reached {
				t.Errorf("%d workers: %d is given, at %d %d processes are uncoloured", workers, until, time, unreached)
			}
		}
	}
}

func TestGossipSearchErrors(t *testing.T) {
	g := search(broadcast.Checked, 2)
	g.Case.Procs = 0
	if _, _, err := g.Fastest(); err == nil {
		t.Error("no processes")
	}
	if _, err := g.Safe(); err == nil {
		t.Error("no processes")
	}
	g, enough := search(broadcast.Checked, 2), errors.New("enough")
	g.Progress = func() error { return enough }
	if _, _, err := g.Fastest(); !errors.Is(err, enough) {
		t.Errorf("a search that was ended says %v", err)
	}
}
