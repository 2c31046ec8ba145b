package resilience

import (
	"math"
	"testing"

	"banyan/internal/study/planning/risk"
)

// TestSimulate compares whole jobs, failure by failure, with the computed values. Their
// difference is the error of the approximation: none without replication, where interruptions
// are exponential, and little with it.
func TestSimulate(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 200
	}
	for _, x := range []struct {
		name  string
		size  int
		d     Degree
		heal  risk.Seconds
		least float64 // simulated over computed
		most  float64
	}{
		{"checkpoints alone", 2000, 1, 0, 1, 1},
		{"checkpoints alone, often interrupted", 50_000, 1, 0, 1, 1},
		{"pairs", 20_000, 2, 0, 0.98, 1},
		{"many pairs", 200_000, 2, 0, 0.97, 1},
		{"pairs, healed", 20_000, 2, 30, 1, 1},
		{"pairs, healed in days", 100_000, 2, 2 * day, 0.98, 1.01},
		{"partial", 20_000, 1.5, 0, 0.97, 1.01},
		{"three", 30_000, 3, 0, 0.97, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			j := example()
			j.Heal = x.heal
			o := j.Outcome(SameNodes, x.size, x.d)
			// Whole intervals, for which the expression is exact.
			o.Interval = o.Busy / risk.Seconds(math.Ceil(float64(o.Busy/o.Interval)))
			o.Time = j.RunTime(o.Busy, o.Interval, o.MTTI)
			got := j.Simulate(&o, runs, 1, nil)
			t.Logf("simulated %v ± %v, computed %v: %.4f; MTTI %v", got.Time, got.Error, o.Time, float64(got.Time/o.Time), o.MTTI)
			slack := 4*float64(got.Error/o.Time) + 1e-4
			if ratio := float64(got.Time / o.Time); ratio < x.least-slack || ratio > x.most+slack || slack > 0.05 {
				t.Errorf("simulated %v ± %v, computed %v: %.4f", got.Time, got.Error, o.Time, ratio)
			}
			if got.Time < o.Busy {
				t.Error("faster than without failures")
			}
		})
	}
}

func TestSimulateSeeds(t *testing.T) {
	j := example()
	o := j.Outcome(SameNodes, 5000, 1.5)
	calls := 0
	a := j.Simulate(&o, 20, 1, func() { calls++ })
	if b := j.Simulate(&o, 20, 1, nil); a != b {
		t.Errorf("%v and %v from one seed", a, b)
	}
	if c := j.Simulate(&o, 20, 2, nil); a == c {
		t.Errorf("%v from two seeds", a)
	}
	if calls != 20 {
		t.Errorf("%d calls", calls)
	}
}

// Without failures the job takes the time that it computes and writes, up to the last short
// interval.
func TestSimulateWithoutFailures(t *testing.T) {
	j := example()
	j.MTBF = 1e9 * year
	o := j.Outcome(SameNodes, 10, 1)
	o.Interval = 50 * hour // three, and 18 hours
	if got := j.Simulate(&o, 1, 1, nil); got.Time != 7*day+40*minute || got.Error != 0 {
		t.Errorf("%v ± %v", got.Time, got.Error)
	}
}
