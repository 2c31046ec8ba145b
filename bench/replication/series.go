package replication

import "banyan/bench/peers"

// series are the times of a row, by setting and round.
type series [settings][]float64

func (s *series) add(setting Setting, time float64) { s[setting] = append(s[setting], time) }

// spreads are the times, and their ratios to those of Beside in the same round.
func (s *series) spreads() (times, ratios [settings]peers.Spread) {
	for k := range s {
		var r []float64
		for round, t := range s[k] {
			r = append(r, t/s[Beside][round])
		}
		times[k], ratios[k] = peers.SpreadOf(s[k]), peers.SpreadOf(r)
	}
	return times, ratios
}
