package resilience

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func example() Job {
	return Job{
		Work: 7 * day, Nodes: Nodes{MTBF: 5 * year}, Overhead: 0.05,
		Checkpointing: Checkpointing{Cost: 10 * minute, Restart: 10 * minute},
	}
}

// The expected outcome, computed by hand.
func TestOutcome(t *testing.T) {
	j := example()
	o := j.Outcome(SameNodes, 10_000, 1)
	if mtti := 5 * year / 10_000; o.MTTI != mtti || o.Busy != j.Work || !near(float64(o.Time), float64(j.RunTime(j.Work, j.Optimum(mtti), mtti)), 1e-12) ||
		!near(o.Efficiency, float64(j.Work/o.Time), 1e-12) {
		t.Errorf("without replication: %+v", o)
	}
	o = j.Outcome(SameNodes, 10_000, 2)
	time, _ := pairs(5000)
	if !near(float64(o.MTTI), float64(5*year)*time, 1e-8) || !near(float64(o.Busy), float64(j.Work)*2*1.05, 1e-12) || o.Efficiency > 1/2.1 {
		t.Errorf("pairs: %+v", o)
	}
	o = j.Outcome(SameRanks, 10_000, 2)
	if o.Nodes != 20_000 || !near(float64(o.Busy), float64(j.Work)*1.05, 1e-12) || !near(o.Efficiency, float64(j.Work/o.Time)/2, 1e-12) {
		t.Errorf("pairs on twice the nodes: %+v", o)
	}
	// A small job on good nodes writes only its result.
	small := j
	small.Work = hour
	if o := small.Outcome(SameNodes, 10, 1); o.Interval != hour || !near(float64(o.Time), float64(70*minute), 1e-3) {
		t.Errorf("an hour: %+v", o)
	}
}

// Efficiency is at most 1/degree. It is the same for the same nodes, whether their number or
// that of the ranks is given. Daly's estimate is close to the optimum.
func TestEfficiency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := example()
		j.MTBF = risk.Seconds(rapid.Float64Range(0.1, 50).Draw(t, "years")) * year
		j.Cost = risk.Seconds(rapid.Float64Range(1, 3600).Draw(t, "cost"))
		j.Restart = risk.Seconds(rapid.Float64Range(0, 3600).Draw(t, "restart"))
		ranks := rapid.IntRange(1, 1<<18).Draw(t, "ranks")
		d := Degree(rapid.IntRange(2, 4).Draw(t, "degree"))
		few, many := j.Outcome(SameRanks, ranks, d), j.Outcome(SameNodes, ranks*int(d), d)
		// The work is the same, but the fixed costs of a job of a single interval weigh
		// differently.
		if few.Interval < few.Busy && !near(few.Efficiency, many.Efficiency, 1e-9) {
			t.Fatalf("same ranks %+v, same nodes %+v", few, many)
		}
		for _, o := range []Outcome{few, many} {
			if o.Efficiency > 1/float64(d)/1.05 || o.Time < o.Busy || o.Time > o.YoungTime || o.Time > o.DalyTime*(1+1e-12) {
				t.Fatalf("%+v", o)
			}
			if o.MTTI > 10*j.Cost && float64(o.DalyTime/o.Time) > 1.001 {
				t.Fatalf("Daly's estimate costs more: %+v", o)
			}
		}
		plain := j.Outcome(SameNodes, ranks, 1)
		if more := j.Outcome(SameNodes, ranks+1, 1); more.Efficiency > plain.Efficiency {
			t.Fatalf("more nodes, more efficient: %v after %v", more.Efficiency, plain.Efficiency)
		}
	})
}

// Replication pays from a certain size on, and not below it.
func TestPaysFrom(t *testing.T) {
	j := example()
	for _, x := range []struct {
		c        Comparison
		d        Degree
		low, top int // the bounds of the size, from the efficiency of checkpoints alone
	}{{SameNodes, 2, 30_000, 50_000}, {SameNodes, 3, 60_000, 90_000}, {SameRanks, 2, 300, 700}} {
		from := j.PaysFrom(x.c, x.d)
		if from < x.low || from > x.top {
			t.Errorf("degree %v, same %v: from %d", x.d, x.c, from)
		}
		for _, n := range []int{2, from / 2, from * 99 / 100} {
			if n >= x.c.Least(x.d) && j.Outcome(x.c, n, x.d).Time < j.Outcome(x.c, n, 1).Time {
				t.Errorf("degree %v, same %v: pays already for %d", x.d, x.c, n)
			}
		}
		for _, n := range []int{from, from * 102 / 100, 2 * from, 3 * from} {
			if j.Outcome(x.c, n, x.d).Time >= j.Outcome(x.c, n, 1).Time {
				t.Errorf("degree %v, same %v: doesn't pay for %d", x.d, x.c, n)
			}
		}
	}
	if from := j.PaysFrom(SameRanks, 1); from != 0 {
		t.Errorf("not to replicate is better than not to replicate from %d", from)
	}
	bad := j
	bad.MTBF = hour
	if from := bad.PaysFrom(SameNodes, 2); from > 10 {
		t.Errorf("nodes that fail every hour: from %d", from)
	}
	bad.MTBF, bad.Cost = year, 20*year
	if o := bad.Outcome(SameNodes, 10, 2); bad.Ends(&o) {
		t.Errorf("checkpoints that take longer than nodes last: %+v", o)
	}
	if from := bad.PaysFrom(SameNodes, 2); from != 0 {
		t.Errorf("a job that never ends doesn't end earlier with replicas: from %d", from)
	}
}

// The rule of thumb of docs/guide/plan-replication.md.
func TestRuleOfThumb(t *testing.T) {
	for _, cost := range []risk.Seconds{minute, 10 * minute, 30 * minute} {
		for _, years := range []risk.Seconds{1, 5, 20} {
			j := example()
			j.MTBF, j.Cost, j.Restart = years*year, cost, cost
			from := j.PaysFrom(SameNodes, 2)
			if ratio := float64(j.MTBF/cost) / float64(from); ratio < 5.5 || ratio > 6.7 {
				t.Errorf("checkpoints of %v, nodes of %v: from %d nodes, a failure in %.2f checkpoints", cost, j.MTBF, from, ratio)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	good := example()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	inf, nan := risk.Seconds(math.Inf(1)), risk.Seconds(math.NaN())
	for _, x := range []struct {
		field string
		spoil func(*Job)
	}{
		{"work", func(j *Job) { j.Work = 0 }},
		{"work", func(j *Job) { j.Work = nan }},
		{"mtbf", func(j *Job) { j.MTBF = 0 }},
		{"mtbf", func(j *Job) { j.MTBF = inf }},
		{"mtbf", func(j *Job) { j.MTBF = nan }},
		{"heal", func(j *Job) { j.Heal = -1 }},
		{"heal", func(j *Job) { j.Heal = 1e-10 }},
		{"heal", func(j *Job) { j.Heal = inf }},
		{"checkpoint", func(j *Job) { j.Cost = 0 }},
		{"restart", func(j *Job) { j.Restart = -1 }},
		{"overhead", func(j *Job) { j.Overhead = -0.1 }},
		{"overhead", func(j *Job) { j.Overhead = math.NaN() }},
	} {
		j := example()
		x.spoil(&j)
		var wrong *field.Error
		if err := j.Validate(); !errors.As(err, &wrong) || wrong.Field != x.field {
			t.Errorf("%s: %v", x.field, err)
		}
	}
	for _, c := range []Comparison{SameNodes, SameRanks} {
		if got, err := ParseComparison(c.String()); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if _, err := ParseComparison("cores"); err == nil {
		t.Error("cores")
	}
}
