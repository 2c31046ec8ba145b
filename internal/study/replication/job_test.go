package replication

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"banyan/internal/fault"
	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/replication/pattern"
	"banyan/internal/testing/explore"
)

// small are the settings of a small job with the costs of a fast network.
func small(kind string, ranks, degree int) Settings {
	return Settings{
		Pattern: pattern.Spec{Kind: kind, Ranks: ranks, Bytes: 1000}, Degree: degree, Steps: 20, Compute: 100e3, Jitter: .05,
		Costs: Costs{
			Model:   loggp.Model{Latency: 1000, Overhead: 300, Gap: 200, PerByte: .5},
			PerCopy: .1, Acknowledge: 300, Replication: 50,
		},
		Detection: 1e6, Seed: 1,
	}
}

func mustRun(t testing.TB, s Settings, workers int) *Outcome {
	t.Helper()
	o, err := Run(context.Background(), s, workers, nil)
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	return o
}

// Every pattern ends, with every degree and protocol, with small messages and large.
func TestPatternsEnd(t *testing.T) {
	for _, kind := range pattern.Kinds() {
		for _, bytes := range []int64{8, 100_000} {
			for degree := 1; degree <= 3; degree++ {
				for _, mirror := range []bool{false, true} {
					if mirror && degree == 1 {
						continue
					}
					s := small(kind, 16, degree)
					s.Pattern.Bytes, s.Mirror, s.Steps = bytes, mirror, 5
					o := mustRun(t, s, 1)
					if o.Time < proto.Time(s.Steps)*s.Compute {
						t.Errorf("%s ×%d, mirror %v: %d ns are less than the computation", kind, degree, mirror, o.Time)
					}
				}
			}
		}
	}
}

// As the algorithm is printed each message has an acknowledgement from each receiver for each other
// replica of its sender, and nothing is retained when the job ends.
func TestPrinted(t *testing.T) {
	for _, kind := range pattern.Kinds() {
		s := small(kind, 16, 3)
		s.Printed, s.Steps = true, 5
		o := mustRun(t, s, 1)
		if o.Acks != 2*o.Messages {
			t.Errorf("%s: %d acknowledgements of %d messages", kind, o.Acks, o.Messages)
		}
		s.Crashes = crashesOf(t, "kill rank=5 at=150us; kill rank=6 replica=1 at=send:3", 16, 3)
		mustRun(t, s, 1)
	}
}

// The outcome is the same on any number of workers, and when repeated.
func TestWorkersMakeNoDifference(t *testing.T) {
	s := small("halo2d", 256, 2)
	s.Crashes = crashesOf(t, "kill rank=17 at=1ms; kill rank=100 replica=1 at=send:33; kill rank=200 at=step:7", 256, 2)
	s.Spread = 500e3
	first := mustRun(t, s, 1)
	if first.Deaths != 3 || first.Pause < s.Detection {
		t.Fatalf("three deaths made %+v", first)
	}
	for _, workers := range []int{1, 2, 4} {
		if o := mustRun(t, s, workers); *o != *first {
			t.Errorf("%d workers: %+v, one: %+v", workers, o, first)
		}
	}
	s.Seed++
	if o := mustRun(t, s, 1); o.Time == first.Time {
		t.Error("another seed, the same time")
	}
}

func crashesOf(t testing.TB, text string, ranks, degree int) []fault.Event {
	t.Helper()
	plan, err := fault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	events, err := plan.Resolve(ranks, degree)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// A machine that knows only its neighbourhood does what one that knows the whole job does.
func TestNeighbourhoods(t *testing.T) {
	for _, mirror := range []bool{false, true} {
		s := small("stencil-cg", 27, 3)
		s.Mirror = mirror
		s.Crashes = crashesOf(t, "kill rank=13 at=700us; kill rank=13 replica=1 at=1ms; kill rank=4 replica=1 at=send:30", 27, 3)
		part := mustRun(t, s, 1)
		j, nodes, err := newJob(s, 1)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]proto.Rank, 27)
		for r := range all {
			all[r] = proto.Rank(r)
		}
		list := make([]loggp.Node[body], len(nodes))
		for p, n := range nodes {
			if n.around.whole {
				t.Fatal("a rank has all others as partners: nothing is tested")
			}
			around := &neighbourhood{all, true}
			whole := newNode(j, n.self, around)
			whole.dies = n.dies
			list[p], nodes[p] = whole, whole
		}
		if err := loggp.New(s.Costs.Model, list, 1).Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		o, err := j.outcome(nodes)
		if err != nil {
			t.Fatal(err)
		}
		// News of deaths wake more processes, which changes nothing that is counted.
		if *o != *part {
			t.Errorf("mirror %v: whole %+v, part %+v", mirror, o, part)
		}
	}
}

// A job whose rank loses its last replica ends with an error that says so.
func TestLost(t *testing.T) {
	s := small("halo2d", 16, 2)
	s.Crashes = crashesOf(t, "kill rank=5 at=200us; kill rank=5 replica=1 at=step:9", 16, 2)
	_, err := Run(context.Background(), s, 1, nil)
	var lost *Lost
	if !errors.As(err, &lost) || lost.Rank != 5 {
		t.Errorf("the end of rank 5: %v", err)
	}
}

// Kills at random moments: every job ends, with each pattern and protocol, and what any process
// received is what its program sent (the machines say so: a gap would be Invalid).
func TestRandomDeaths(t *testing.T) {
	seeds := uint64(4)
	if explore.Long() {
		seeds = 300
	}
	for seed := range seeds {
		for _, kind := range pattern.Kinds() {
			for _, mirror := range []bool{false, true} {
				s := small(kind, 16, 3)
				s.Mirror, s.Seed, s.Steps = mirror, seed, 6
				s.Pattern.Bytes = []int64{8, 2000, 100_000}[seed%3]
				s.Pattern.Any = seed%2 == 1 && (kind == "halo2d" || kind == "halo3d" || kind == "stencil-cg" || kind == "multigrid")
				s.Detection, s.Spread = 50e3, 200e3
				s.Crashes = crashesOf(t, fmt.Sprintf("random count=10 within=send:12 seed=%d action=kill; random count=5 within=500us action=kill seed=%d", seed, seed+100), 16, 3)
				o := mustRun(t, s, 1)
				if o.Deaths == 0 {
					t.Errorf("%s: no process died", kind)
				}
			}
		}
	}
}
