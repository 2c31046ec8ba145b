package resilience

import (
	"fmt"
	"math"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

// Job is a job to plan.
type Job struct {
	// Work is the time that the job takes without failures, checkpoints or replication.
	Work risk.Seconds
	Nodes
	Checkpointing
	// Overhead is the share of its time by which replication slows the job down.
	Overhead float64
}

// Validate returns a *field.Error if a value is out of range.
func (j *Job) Validate() error {
	if err := j.Nodes.Validate(); err != nil {
		return err
	}
	if err := j.Checkpointing.Validate(); err != nil {
		return err
	}
	switch {
	case !(j.Work > 0) || math.IsInf(float64(j.Work), 0):
		return field.Errorf("work", "must be more than 0")
	case !(j.Overhead >= 0) || math.IsInf(j.Overhead, 0):
		return field.Errorf("overhead", "%g: want 0 or more", j.Overhead)
	}
	return nil
}

// Comparison says what replication is compared with.
type Comparison uint8

const (
	// SameNodes is for a given machine: without replication every node has a rank and
	// all take [Job].Work; with degree r there are 1/r as many ranks, and each has r times
	// the work.
	SameNodes Comparison = iota
	// SameRanks is for a given job and a machine with nodes to spare: the ranks keep their
	// work, and r times the nodes are taken.
	SameRanks
)

func (c Comparison) String() string {
	if c == SameRanks {
		return "ranks"
	}
	return "nodes"
}

// ParseComparison is the inverse of String.
func ParseComparison(text string) (Comparison, error) {
	for _, c := range []Comparison{SameNodes, SameRanks} {
		if c.String() == text {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%q: want nodes or ranks", text)
}

// Outcome is what is expected of the job with one degree of replication.
type Outcome struct {
	Layout Layout
	Nodes  int          // taken: some may be left over and idle
	Busy   risk.Seconds // time that the job takes without failures and checkpoints
	Interruption
	// Interval is the best for this MTTI, Time by [Checkpointing.RunTime]. An interval as long
	// as Busy means a single checkpoint, of the result.
	Interval, Time risk.Seconds
	Young, Daly    risk.Seconds // estimates of the interval
	YoungTime      risk.Seconds // expected with it
	DalyTime       risk.Seconds // expected with it
	// Efficiency is the node-time of the work without failures, checkpoints and
	// replication, over that of the nodes taken.
	Efficiency float64
}

// Outcome computes what is expected on size nodes, or of size ranks. The nodes must suffice
// for a rank.
func (j *Job) Outcome(c Comparison, size int, d Degree) Outcome {
	o := Outcome{Busy: j.Work, Nodes: size}
	if c == SameNodes {
		o.Layout = FitLayout(size, d)
		o.Busy *= risk.Seconds(float64(size) / float64(o.Layout.Ranks()))
	} else {
		o.Layout = NewLayout(size, d)
		o.Nodes = o.Layout.Nodes()
	}
	if o.Layout.Replicated() {
		o.Busy *= risk.Seconds(1 + j.Overhead)
	}
	o.Interruption = j.Interruption(o.Layout)
	with := func(interval risk.Seconds) (_, time risk.Seconds) {
		interval = min(interval, o.Busy)
		return interval, j.RunTime(o.Busy, interval, o.MTTI)
	}
	o.Interval, o.Time = with(j.Optimum(o.MTTI))
	o.Young, o.YoungTime = with(j.Checkpointing.Young(o.MTTI))
	o.Daly, o.DalyTime = with(j.Checkpointing.Daly(o.MTTI))
	o.Efficiency = float64(j.Work/o.Time) * float64(size) / float64(o.Nodes)
	return o
}

// endless is how many times its work a job may take and still count as ending.
const endless = 1e6

// Ends says whether the job makes progress with an outcome.
func (j *Job) Ends(o *Outcome) bool { return o.Time <= endless*j.Work }

// Least returns the smallest size that has a rank.
func (c Comparison) Least(d Degree) int {
	if c == SameRanks {
		return 1
	}
	return int(math.Ceil(float64(d)))
}

// PaysFrom is the smallest size from which the job is expected to end earlier with a degree
// than without replication, to one in a thousand; 0 if it never does up to [MaxNodes], or doesn't
// end ([Job.Ends]) with either.
// A size is as in [Job.Outcome].
func (j *Job) PaysFrom(c Comparison, d Degree) int {
	pays := func(size int) bool {
		return j.Outcome(c, size, d).Time < j.Outcome(c, size, 1).Time
	}
	least := c.Least(d)
	low, high := least, least
	for !pays(high) {
		if high >= MaxNodes/MaxDegree {
			return 0
		}
		low, high = high, 2*high
	}
	for high-low > 1 && high-low > low/1000 {
		if middle := (low + high) / 2; pays(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if o := j.Outcome(c, high, d); !j.Ends(&o) {
		return 0
	}
	return high
}
