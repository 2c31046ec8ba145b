package resilience

// Case is a job of one size with one degree of replication, beside the others of its size.
type Case struct {
	Outcome
	Compare Comparison
	Degree  Degree
	Best    bool // ends first of its size, and does end
	Ends    bool // see [Job.Ends]
	// PaysFrom is from which size on this degree ends earlier than no replication: 0 if never, or
	// if this is none.
	PaysFrom  int
	Simulated *Simulation // nil if it wasn't
}

// Cases are all of some sizes with some degrees, in that order, for each comparison.
func (j *Job) Cases(comparisons []Comparison, sizes []int, degrees []float64) (all []Case) {
	for _, c := range comparisons {
		from := make([]int, len(degrees))
		for i, d := range degrees {
			if d > 1 {
				from[i] = j.PaysFrom(c, Degree(d))
			}
		}
		for _, size := range sizes {
			best := len(all)
			for i, d := range degrees {
				x := Case{Outcome: j.Outcome(c, size, Degree(d)), Compare: c, Degree: Degree(d), PaysFrom: from[i]}
				x.Ends = j.Ends(&x.Outcome)
				all = append(all, x)
				if x.Time < all[best].Time {
					best = len(all) - 1
				}
			}
			all[best].Best = all[best].Ends
		}
	}
	return all
}

// Limits of what is simulated: nodes, their failures in a run, and how much longer than its work a
// job may take.
const (
	simulatedNodes    = 1 << 24
	simulatedFailures = 1e8
	simulatedSlowdown = 100
)

// Run simulates a case so many times, unless a single run would take too long. Each run calls
// done.
func (j *Job) Run(c *Case, runs int, seed uint64, done func()) {
	failures := float64(c.Nodes) * float64(c.Time/j.MTBF)
	if c.Nodes > simulatedNodes || failures > simulatedFailures || c.Time >= simulatedSlowdown*c.Busy {
		return
	}
	s := j.Simulate(&c.Outcome, runs, seed, done)
	c.Simulated = &s
}
