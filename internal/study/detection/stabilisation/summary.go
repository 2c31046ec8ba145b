package stabilisation

import (
	"math"
	"slices"
)

// Spread describes the values of one quantity in many runs.
type Spread struct {
	Mean      float64
	Deviation float64 // standard deviation of the runs
	Error     float64 // half the width of the mean's 95 % confidence interval
	Least     float64
	Median    float64
	Greatest  float64
}

// NewSpread describes values, of which there is at least one. It sorts them.
func NewSpread(values []float64) Spread {
	slices.Sort(values)
	n := float64(len(values))
	s := Spread{
		Least:    values[0],
		Median:   (values[(len(values)-1)/2] + values[len(values)/2]) / 2,
		Greatest: values[len(values)-1],
	}
	for _, v := range values {
		s.Mean += v / n
	}
	if n > 1 {
		for _, v := range values {
			s.Deviation += (v - s.Mean) * (v - s.Mean) / (n - 1)
		}
		s.Deviation = math.Sqrt(s.Deviation)
		s.Error = 1.96 * s.Deviation / math.Sqrt(n)
	}
	return s
}

// Summary describes the outcomes of a campaign. The spreads are over the runs that came to a
// stable configuration. Times are in seconds.
type Summary struct {
	Runs     int
	Unstable int // runs that didn't
	False    int // live nodes that were taken for dead
	Exceeded int // runs that took longer than theorem 1 allows
	Beyond   int // runs with more failures than it covers
	// OfBound is the largest share that a run took of the time that theorem 1 allows it.
	OfBound float64

	// Telling is from the detection of the first failure until all know of it, Each from a failure
	// until all know of it, on average of a run's failures.
	First, Telling, All, Each          Spread
	Failures, Broadcasts               Spread
	Heartbeats, Observes, News, Others Spread
}

// Summarise describes outcomes.
func (s *Settings) Summarise(outcomes []Outcome) Summary {
	m := Summary{Runs: len(outcomes)}
	var stable []Outcome
	for i := range outcomes {
		o := &outcomes[i]
		m.False += o.False
		if s.Exceeds(o) {
			m.Exceeded++
		}
		if o.Failures > s.MostFailures() {
			m.Beyond++
		} else if o.Stable {
			m.OfBound = max(m.OfBound, float64(o.All)/s.Bound(o.Failures))
		}
		if o.Stable {
			stable = append(stable, *o)
		} else {
			m.Unstable++
		}
	}
	if len(stable) == 0 {
		return m
	}
	for _, q := range []struct {
		spread *Spread
		value  func(*Outcome) float64
	}{
		{&m.First, func(o *Outcome) float64 { return float64(o.First) / 1e9 }},
		{&m.Telling, func(o *Outcome) float64 { return float64(o.First-o.Detected) / 1e9 }},
		{&m.All, func(o *Outcome) float64 { return float64(o.All) / 1e9 }},
		{&m.Each, func(o *Outcome) float64 { return float64(o.Each) / 1e9 }},
		{&m.Failures, func(o *Outcome) float64 { return float64(o.Failures) }},
		{&m.Broadcasts, func(o *Outcome) float64 { return float64(o.Broadcasts) }},
		{&m.Heartbeats, func(o *Outcome) float64 { return float64(o.Messages.Heartbeats) }},
		{&m.Observes, func(o *Outcome) float64 { return float64(o.Messages.Observes) }},
		{&m.News, func(o *Outcome) float64 { return float64(o.Messages.News) }},
		{&m.Others, func(o *Outcome) float64 { return float64(o.Messages.Others) }},
	} {
		values := make([]float64, len(stable))
		for i := range stable {
			values[i] = q.value(&stable[i])
		}
		*q.spread = NewSpread(values)
	}
	return m
}
