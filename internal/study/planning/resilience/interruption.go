package resilience

import (
	"math"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

// Nodes says how often nodes fail, and when a dead replica is replaced.
type Nodes struct {
	MTBF risk.Seconds // M: mean time between failures of one node
	// Heal is the time from a replica's death until another replaces it; 0: none does before the
	// job restarts.
	Heal risk.Seconds
}

// Spans of nodes are within these bounds, within which no probability is lost to underflow.
const (
	shortest risk.Seconds = 1e-9
	longest  risk.Seconds = 1e20
)

// Validate returns a *field.Error for what makes no sense.
func (n *Nodes) Validate() error {
	switch {
	case !(n.MTBF >= shortest && n.MTBF <= longest):
		return field.Errorf("mtbf", "%v: want %v to %v", n.MTBF, shortest, longest)
	case n.Heal != 0 && !(n.Heal >= shortest && n.Heal <= longest):
		return field.Errorf("heal", "%v: want %v to %v, or never", n.Heal, shortest, longest)
	}
	return nil
}

// Interruption is what is expected of a job that begins with all nodes whole.
type Interruption struct {
	MTTI risk.Seconds // mean time until a rank has lost all its replicas
	// Failures is the mean number of nodes that have failed by then, the last one among them.
	// Those that died and weren't replaced can't fail again.
	Failures float64
}

// The integral is taken octave by octave, each with Simpson's rule on 2^bits panels.
const (
	fine   = 7
	coarse = 3    // where hardly a job has been interrupted
	hardly = 1e-3 // the probability of that
	whole  = 1e-6 // the same before the first octave, of which nothing is integrated
	gone   = 1e-13
)

// Interruption integrates the probability that a job of this layout survives, from
// 0 to infinity.
//
// In healing, replicas are replaced independently, in an exponentially distributed time; only
// its mean matters as long as it is short against M.
func (n Nodes) Interruption(l Layout) Interruption {
	if !l.Replicated() { // the first failure is the end
		return Interruption{n.MTBF / risk.Seconds(l.Ranks()), 1}
	}
	death, repair := 1/float64(n.MTBF), 0.0
	if n.Heal > 0 {
		repair = 1 / float64(n.Heal)
	}
	rate := death * float64(l.Nodes())
	step := whole / rate / (1 << fine)
	for _, g := range l {
		step = min(step, longestStep(g.Replicas, death, repair))
	}
	ranks := make([]*chain, len(l))
	for i, g := range l {
		ranks[i] = newChain(g.Replicas, death, repair, step)
	}
	state := make([]vector, len(l))
	from := func(j int) {
		for i, c := range ranks {
			state[i] = c.begin(j)
		}
	}

	begin := step * (1 << fine) // of the octave
	time, failures := begin, begin*rate
	for j := fine; ; j++ {
		from(j + 1)
		survival, _ := l.survive(state)
		bits := fine
		if survival > 1-hardly {
			bits = coarse
		}
		from(j)
		var times, alive float64
		for p := range 1<<bits + 1 {
			weight := 2 + 2*float64(p&1)
			if p == 0 || p == 1<<bits {
				weight = 1
			}
			s, live := l.survive(state)
			times += weight * s
			alive += weight * live
			for i, c := range ranks {
				c.advance(&state[i], j-bits)
			}
		}
		width := begin / float64(int(1)<<bits) / 3
		time += width * times
		failures += width * alive * death
		if survival < gone {
			return Interruption{risk.Seconds(time), failures}
		}
		begin *= 2
	}
}

// survive is the probability that no rank is lost, and the expected number of live nodes
// if so, times it, for the state of one rank of each group.
func (l Layout) survive(state []vector) (survival, alive float64) {
	survival = 1
	for i, g := range l {
		survival *= math.Exp(float64(g.Ranks) * math.Log1p(-min(1, state[i][0])))
	}
	if survival == 0 {
		return 0, 0
	}
	for i, g := range l {
		alive += float64(g.Ranks) * state[i].alive() / (1 - state[i][0])
	}
	return survival, alive * survival
}
