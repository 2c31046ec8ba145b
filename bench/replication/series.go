package replication

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"banyan/bench/peers"
)

// series are the times of a row, by setting and round.
type series [settings][]float64

func (s *series) add(setting Setting, time float64) { s[setting] = append(s[setting], time) }

// Interval is where a median lies with a confidence of 95 % at least; NaN where there are too few
// values to say.
type Interval struct{ From, To float64 }

// certain are the intervals of the ratios to Beside in the same round.
func (s *series) certain() (all [settings]Interval) {
	for k := range s {
		all[k] = intervalOf(s.ratios(Setting(k)))
	}
	return all
}

// intervalOf takes the values as draws from whatever distribution: a draw is below its
// median with probability 1/2. So the i-th smallest and the i-th largest of n values have the median between
// them but with probability 2 P(B ≤ i-1), B being binomial (n, 1/2).
func intervalOf(values []float64) Interval {
	n := len(values)
	below := distuv.Binomial{N: float64(n), P: .5}
	i := 0
	for 2*below.CDF(float64(i)) <= .05 {
		i++
	}
	if n == 0 || i == 0 {
		return Interval{math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Interval{sorted[i-1], sorted[n-i]}
}

// ratios are those of a setting's times to those of Beside in the same round.
func (s *series) ratios(k Setting) []float64 {
	var r []float64
	for round, t := range s[k] {
		r = append(r, t/s[Beside][round])
	}
	return r
}

// spreads are the times, and their ratios to those of Beside in the same round.
func (s *series) spreads() (times, ratios [settings]peers.Spread) {
	for k := range s {
		times[k], ratios[k] = peers.SpreadOf(s[k]), peers.SpreadOf(s.ratios(Setting(k)))
	}
	return times, ratios
}
