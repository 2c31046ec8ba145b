package replication

import (
	"slices"

	"banyan/bench/peers"
)

// series are the measured values of a row, by setting and round.
type series [settings][]float64

func (s *series) add(setting Setting, value float64) { s[setting] = append(s[setting], value) }

// ratios are those of a setting's values to those of Beside in the same round.
func (s *series) ratios(k Setting) []float64 {
	var r []float64
	for round, t := range s[k] {
		r = append(r, t/s[Beside][round])
	}
	return r
}

// spreads are the values, and their ratios to those of Beside in the same round.
func (s *series) spreads() (values, ratios [settings]peers.Spread) {
	for k := range s {
		values[k], ratios[k] = peers.SpreadOf(s[k]), peers.SpreadOf(s.ratios(Setting(k)))
	}
	return values, ratios
}

// estimates are those of the ratios to Beside in the same round.
func (s *series) estimates() (all [settings]Estimate) {
	for k := range s {
		all[k] = estimate(s.ratios(Setting(k)))
	}
	return all
}

// inTurn is the order of a round, reversed in every second one. So of any two settings each comes
// first as often as the other, at the same distance.
func inTurn[T any](list []T, round int) []T {
	list = slices.Clone(list)
	if round%2 == 1 {
		slices.Reverse(list)
	}
	return list
}
