package replication

import (
	"banyan/bench/peers"
	"banyan/internal/study/ratio"
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
func (s *series) estimates() (all [settings]ratio.Estimate) {
	for k := range s {
		all[k] = ratio.Of(s.ratios(Setting(k)))
	}
	return all
}
