package replication

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/replication/pattern"
	"banyan/internal/testing/explore"
)

// A rank that is healed survives the death of its other replica, and one that isn't doesn't.
func TestHealedRankSurvives(t *testing.T) {
	s := small("halo2d", 64, 2)
	s.Steps = 60
	s.Crashes = crashesOf(t, "kill rank=17 at=1ms; kill rank=17 replica=1 at=4500us", 64, 2)
	var lost *Lost
	if _, err := Run(context.Background(), s, 1, nil); !errors.As(err, &lost) || lost.Rank != 17 {
		t.Fatalf("without healing: %v", err)
	}
	s.Healing = Healing{After: 1500e3, State: 100_000}
	o := mustRun(t, s, 1)
	if o.Deaths != 2 || o.Healed != 2 {
		t.Errorf("%d deaths, %d replaced", o.Deaths, o.Healed)
	}
	if o.Healing < s.Healing.After {
		t.Errorf("replaced after %d ns, before the replacement waited", o.Healing)
	}
	for _, workers := range []int{2, 3} {
		if other := mustRun(t, s, workers); *other != *o {
			t.Errorf("%d workers: %+v, one: %+v", workers, other, o)
		}
	}
}

// A donor that dies before its state is sent takes the replacement with it, and the next one is
// healed from another donor; one that dies after that doesn't.
func TestDonorDies(t *testing.T) {
	for _, degree := range []int{2, 3} {
		healed := map[int]int{}
		for at := 2300; at < 3200; at += 15 {
			s := small("halo2d", 16, degree)
			s.Steps = 100
			s.Healing = Healing{After: 1500e3, State: 1e6}
			s.Crashes = crashesOf(t, fmt.Sprintf("kill rank=5 at=1ms; kill rank=5 replica=1 at=%dus", at), 16, degree)
			o, err := Run(context.Background(), s, 1, nil)
			if lost := (*Lost)(nil); degree == 2 && errors.As(err, &lost) {
				healed[-1]++
				continue
			}
			if err != nil {
				t.Fatalf("the donor dies at %d µs: %v", at, err)
			}
			healed[o.Healed]++
		}
		if degree == 2 && (healed[-1] == 0 || healed[2] == 0 || len(healed) != 2) {
			t.Errorf("of two replicas: %v; want some jobs lost, and the others healed twice", healed)
		}
		if degree == 3 && (healed[2] == 0 || len(healed) != 1) {
			t.Errorf("of three replicas: %v; want all healed twice", healed)
		}
	}
}

// The donor's program pauses for the time that its state takes to send.
func TestDonorPause(t *testing.T) {
	var before proto.Time
	for _, size := range []int64{0, 1e6, 64e6} {
		s := small("halo2d", 16, 2)
		s.Steps, s.Healing = 60, Healing{After: 1500e3, State: size}
		s.Crashes = crashesOf(t, "kill rank=5 at=1ms", 16, 2)
		o := mustRun(t, s, 1)
		least := proto.Time(float64(size) * (s.Costs.PerByte + 2*s.Costs.PerCopy))
		// Processes that compute answer after progressTick at most.
		if o.Healed != 1 || o.DonorPause < least || o.DonorPause > least+least/10+progressTick+200e3 {
			t.Errorf("%d bytes: %d replaced, the donor paused for %d ns; sending takes %d", size, o.Healed, o.DonorPause, least)
		}
		if o.DonorPause <= before {
			t.Errorf("%d bytes: no longer than fewer, %d ns", size, o.DonorPause)
		}
		before = o.DonorPause
	}
}

// Random jobs with random deaths end, or lose a rank of which that many replicas were killed.
func TestHealingAtRandom(t *testing.T) {
	jobs := 60
	if explore.Long() {
		jobs = 30_000
	}
	healed, lost := 0, 0
	for seed := range jobs {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		ranks, degree := 4+4*rng.IntN(4), 2+rng.IntN(2)
		s := small(pattern.Kinds()[rng.IntN(len(pattern.Kinds()))], ranks, degree)
		if s.Pattern.Kind == "cg" {
			ranks = 8
			s.Pattern.Ranks = ranks
		}
		s.Seed, s.Steps, s.Mirror, s.Spread = uint64(seed), 80, rng.IntN(3) == 0, proto.Time(rng.IntN(500_000))
		s.Pattern.Bytes = []int64{8, 5000, 100_000}[rng.IntN(3)]
		s.Pattern.Any = rng.IntN(2) == 0
		if _, err := pattern.New(s.Pattern); err != nil {
			s.Pattern.Any = false
		}
		s.Healing = Healing{After: s.Detection + s.Spread + proto.Time(rng.IntN(1e6)), State: rng.Int64N(1e6)}
		plan := ""
		kills := map[int]int{}
		for range 1 + rng.IntN(6) {
			rank := rng.IntN(ranks)
			kills[rank]++
			plan += fmt.Sprintf("kill rank=%d replica=%d at=%dus; ", rank, rng.IntN(degree), rng.IntN(8000))
		}
		s.Crashes = crashesOf(t, plan, ranks, degree)
		o, err := Run(context.Background(), s, 1, nil)
		var l *Lost
		switch {
		case errors.As(err, &l):
			if kills[int(l.Rank)] < degree {
				t.Errorf("seed %d: %v, and %d of its replicas were killed (%s)", seed, err, kills[int(l.Rank)], plan)
			}
			lost++
		case err != nil:
			t.Errorf("seed %d, %+v, %s: %v", seed, s, plan, err)
		default:
			healed += o.Healed
			if o.Healed > o.Deaths {
				t.Errorf("seed %d: %d of %d were replaced", seed, o.Healed, o.Deaths)
			}
		}
	}
	t.Logf("%d replaced, %d jobs lost a rank", healed, lost)
	if healed < jobs || lost == 0 {
		t.Errorf("of %d jobs %d lost a rank, and %d processes were replaced: these jobs show little", jobs, lost, healed)
	}
}
