package qos

import (
	"math"
	"slices"
)

// z is the quantile of the normal distribution for intervals of 95 %.
const z = 1.959964

// Sample summarises measurements.
type Sample struct {
	Count     int
	Mean      float64
	Low, High float64 // 95 % confidence interval of the mean (normal)
	Median    float64
	P99       float64
	Max       float64
}

// summarise sorts the values.
func summarise(values []float64) Sample {
	s := Sample{Count: len(values)}
	if s.Count == 0 {
		return s
	}
	slices.Sort(values)
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(s.Count)
	square := 0.0
	for _, v := range values {
		square += (v - s.Mean) * (v - s.Mean)
	}
	half := math.Inf(1)
	if s.Count > 1 {
		half = z * math.Sqrt(square/float64(s.Count-1)/float64(s.Count))
	}
	s.Low, s.High = s.Mean-half, s.Mean+half
	rank := func(q float64) float64 {
		return values[max(0, int(math.Ceil(q*float64(s.Count)))-1)]
	}
	s.Median, s.P99, s.Max = rank(0.5), rank(0.99), values[s.Count-1]
	return s
}

// Rate is a number of events in an exposure.
type Rate struct {
	Events    int
	Rate      float64 // for each unit of exposure
	Low, High float64 // 95 % confidence interval
}

// rate estimates a rate from the events and exposures of independent runs. The
// interval is Garwood's for a Poisson count, widened where events come in clusters: if
// the runs' counts spread more than Poisson counts would, by a factor, the events are
// worth that factor fewer. No events leave an upper bound.
func rate(events []int, exposures []float64) Rate {
	var r Rate
	exposure := 0.0
	for i, n := range events {
		r.Events += n
		exposure += exposures[i]
	}
	if exposure == 0 {
		return Rate{High: math.Inf(1)}
	}
	r.Rate = float64(r.Events) / exposure
	clusters := 1.0
	if len(events) > 1 && r.Events > 0 {
		chi := 0.0
		for i, n := range events {
			if expected := r.Rate * exposures[i]; expected > 0 {
				chi += (float64(n) - expected) * (float64(n) - expected) / expected
			}
		}
		clusters = max(1, chi/float64(len(events)-1))
	}
	low, high := garwood(float64(r.Events) / clusters)
	r.Low, r.High = low*clusters/exposure, high*clusters/exposure
	return r
}

// garwood is the 95 % confidence interval for the mean of a Poisson distribution of
// which a count was observed: quantiles of χ², in Wilson and Hilferty's approximation,
// which is within 1 % here and takes fractions.
func garwood(count float64) (low, high float64) {
	half := func(degrees, z float64) float64 {
		c := 2 / (9 * degrees)
		root := 1 - c + z*math.Sqrt(c)
		return degrees * root * root * root / 2
	}
	if count > 0 {
		low = max(0, half(2*count, -z))
	}
	return low, half(2*count+2, z)
}
