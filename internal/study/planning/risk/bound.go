package risk

import (
	"math"
	"math/bits"

	"banyan/internal/study/field"
)

// Platform is the machine that the detector runs on.
type Platform struct {
	Nodes int     // n, the live nodes
	MTBF  Seconds // μ: mean time between failures of one node
	Tau   Seconds // τ: longest time that a message takes
}

// MaxNodes bounds the size of a platform; the number is arbitrary.
const MaxNodes = 1 << 40

// Validate returns a *field.Error if theorem 1 says nothing about the platform.
func (p Platform) Validate() error {
	switch {
	case p.Nodes < 4:
		return field.Errorf("nodes", "%d: the theorem speaks of 4 nodes or more (⌊log2 n⌋ − 1 overlapping failures)", p.Nodes)
	case p.Nodes > MaxNodes:
		return field.Errorf("nodes", "%d: more than %d", p.Nodes, MaxNodes)
	case !(p.MTBF > 0) || math.IsInf(float64(p.MTBF), 0):
		return field.Errorf("mtbf", "must be more than 0")
	case !(p.Tau > 0) || math.IsInf(float64(p.Tau), 0):
		return field.Errorf("tau", "must be more than 0")
	}
	return nil
}

// MaxFailures is M, the most overlapping failures that theorem 1 covers:
// ⌊log2 n⌋ − 1.
func MaxFailures(nodes int) int { return bits.Len(uint(nodes)) - 2 }

// Interval is the mean time between failures of any nodes, 1/λ = μ/n.
func (p Platform) Interval() Seconds { return p.MTBF / Seconds(p.Nodes) }

// Broadcast is B(n) = 8τ log2 n, the bound on one broadcast that shares the port
// of each node with heartbeats.
func (p Platform) Broadcast() Seconds { return 8 * p.Tau * Seconds(math.Log2(float64(p.Nodes))) }

// Stabilisation is theorem 1's T(f) = f(f+1)δ + fτ + f(f+1)/2 · B(n): the longest time for
// which f overlapping failures make the configuration unstable.
func (p Platform) Stabilisation(f int, timeout Seconds) Seconds {
	k := Seconds(f)
	return k*(k+1)*timeout + k*p.Tau + k*(k+1)/2*p.Broadcast()
}

// Risk is P_T(M)(M): the probability that more than M failures strike within
// T(M).
func (p Platform) Risk(timeout Seconds) float64 {
	m := MaxFailures(p.Nodes)
	return MoreThan(m, float64(p.Stabilisation(m, timeout)/p.Interval()))
}

// LargestTimeout is the largest δ with a risk of at most the given one, as in figure 3. It is
// negative where even δ = 0 would be too risky, because broadcasts alone take too long.
func (p Platform) LargestTimeout(risk float64) Seconds {
	m := MaxFailures(p.Nodes)
	allowed := Seconds(meanForRisk(m, risk)) * p.Interval()
	return (allowed - p.Stabilisation(m, 0)) / Seconds(m*(m+1))
}

// Point is a point of figure 3: the largest δ for a platform.
type Point struct {
	Platform
	Timeout Seconds
}

// Figure3 computes the largest δ at a risk for every combination of sizes and reliabilities.
// The sizes of one reliability come together.
func Figure3(sizes []int, mtbfs []Seconds, tau Seconds, risk float64) ([]Point, error) {
	if err := validateRisk(risk); err != nil {
		return nil, err
	}
	points := make([]Point, 0, len(sizes)*len(mtbfs))
	for _, mtbf := range mtbfs {
		for _, n := range sizes {
			p := Platform{Nodes: n, MTBF: mtbf, Tau: tau}
			if err := p.Validate(); err != nil {
				return nil, err
			}
			points = append(points, Point{p, p.LargestTimeout(risk)})
		}
	}
	return points, nil
}

func validateRisk(risk float64) error {
	// Below this the tail of the distribution can't be distinguished from 0.
	if !(risk >= 1e-300 && risk < 1) {
		return field.Errorf("risk", "%g: want a probability between 1e-300 and 1", risk)
	}
	return nil
}
