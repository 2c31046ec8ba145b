package resilience

import (
	"math"
	"math/rand/v2"

	"banyan/internal/study/planning/risk"
)

// Simulation is the result of running a job many times, failure by failure.
type Simulation struct {
	Time  risk.Seconds // mean until the end
	Error risk.Seconds // standard error of that mean
}

// Simulate runs the job of an outcome, with its interval, some times. It draws each node's
// failures, and heals in a constant time; nothing else is approximated. Equal seeds give equal
// results. Each run calls done, if that isn't nil.
func (j *Job) Simulate(o *Outcome, runs int, seed uint64, done func()) Simulation {
	r := newRanks(j.Nodes, o.Layout)
	var sum, squares float64
	for run := range runs {
		r.random = rand.New(rand.NewPCG(seed, uint64(run)))
		t := float64(j.simulate(r, o))
		delta := t - sum // Welford's: sum is the mean so far
		sum += delta / float64(run+1)
		squares += delta * (t - sum)
		if done != nil {
			done()
		}
	}
	variance := squares / math.Max(1, float64(runs-1))
	return Simulation{risk.Seconds(sum), risk.Seconds(math.Sqrt(variance / float64(runs)))}
}

// simulate runs the job once.
func (j *Job) simulate(r *ranks, o *Outcome) risk.Seconds {
	segment := o.Interval + j.Cost
	left, time, restart := o.Busy, risk.Seconds(0), risk.Seconds(0)
	for {
		// A last segment shorter than the others, but not for rounding.
		count := risk.Seconds(math.Ceil(float64(left/o.Interval) - 1e-9))
		all := restart + left + count*j.Cost
		lived, interrupted := r.live(all)
		time += lived
		if !interrupted {
			return time
		}
		if saved := risk.Seconds(math.Floor(float64((lived - restart) / segment))); saved > 0 {
			left -= min(saved, count-1) * o.Interval
		}
		restart = j.Restart
	}
}

// ranks are the live replicas of a job.
type ranks struct {
	nodes    Nodes
	random   *rand.Rand
	rate     float64 // of failures, with those of nodes that are dead
	replicas []uint8 // of each rank, when whole
	alive    []uint8 // now
	failed   []int32 // ranks that may not be whole
	healing  []repair
	rank     []int32 // of each node
}

// repair is a replacement that comes.
type repair struct {
	at   float64
	rank int32
}

func newRanks(n Nodes, l Layout) *ranks {
	r := &ranks{nodes: n, rate: float64(l.Nodes()) / float64(n.MTBF)}
	for _, g := range l {
		for range g.Ranks {
			for range g.Replicas {
				r.rank = append(r.rank, int32(len(r.replicas)))
			}
			r.replicas = append(r.replicas, uint8(g.Replicas))
		}
	}
	r.alive = append([]uint8(nil), r.replicas...)
	return r
}

// live begins with all nodes whole, and ends after a time or when a rank is lost.
func (r *ranks) live(longest risk.Seconds) (lived risk.Seconds, interrupted bool) {
	for _, rank := range r.failed {
		r.alive[rank] = r.replicas[rank]
	}
	r.failed, r.healing = r.failed[:0], r.healing[:0]
	healed := 0 // of healing
	now := 0.0
	for {
		now += r.random.ExpFloat64() / r.rate
		if now >= float64(longest) {
			return longest, false
		}
		for ; healed < len(r.healing) && r.healing[healed].at <= now; healed++ {
			r.alive[r.healing[healed].rank]++
		}
		if healed > 0 && healed == len(r.healing) { // all are whole
			r.failed, r.healing, healed = r.failed[:0], r.healing[:0], 0
		}
		rank := r.rank[r.random.IntN(len(r.rank))]
		if r.random.IntN(int(r.replicas[rank])) >= int(r.alive[rank]) {
			continue // a node that is dead
		}
		r.alive[rank]--
		r.failed = append(r.failed, rank)
		if r.alive[rank] == 0 {
			return risk.Seconds(now), true
		}
		if r.nodes.Heal > 0 {
			r.healing = append(r.healing, repair{now + float64(r.nodes.Heal), rank})
		}
	}
}
