package oneworld

import "banyan/internal/proto"

// Result is what became of a run.
type Result struct {
	Outcome string // one of Outcomes
	Err     error  // the promise that was broken
	Faults  []Fault
	Took    proto.Time // nanoseconds until the last agent had ended
	Terms   int        // stewards that have acted
	Started int        // processes
	Failed  int        // attempts to replace a process
	Views   int        // the highest number
	Steps   int
}

// Seconds is how long the job took.
func (r *Result) Seconds() float64 { return float64(r.Took) / float64(second) }

// The ways in which a run ends.
const (
	Finished   = "finished"    // exit code 0
	RankLost   = "rank lost"   // exit code 1
	NoMajority = "no majority" // no side could decide
	Broken     = "broken"      // a promise was broken
)

// Outcomes are the ways in which a run ends.
func Outcomes() []string { return []string{Finished, RankLost, NoMajority, Broken} }

// Player plays runs one after the other. It isn't safe for concurrent use.
type Player struct {
	memory memory // runs leave it to the next
}

// Run plays one run. The same Settings give the same Result.
func Run(s Settings) *Result { return new(Player).Run(s) }

// Run plays one run. The same Settings give the same Result.
func (p *Player) Run(s Settings) *Result {
	w := newWorld(s.draw(), &p.memory)
	w.run()
	r := &Result{Outcome: NoMajority, Err: w.err, Faults: w.faults, Took: w.now, Terms: len(w.leaders), Started: len(w.ranks), Failed: w.failed, Steps: w.steps}
	switch code, ok := w.finished(); {
	case w.err != nil:
		r.Outcome = Broken
	case ok && code == 0:
		r.Outcome = Finished
	case ok:
		r.Outcome = RankLost
	}
	for _, x := range w.views {
		r.Views = max(r.Views, int(x.view.Number))
	}
	return r
}
