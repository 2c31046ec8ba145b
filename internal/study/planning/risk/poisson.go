package risk

import "math"

// MoreThan is P_T(f): the probability that more than f failures strike where mean ones are
// expected, if they are independent (Poisson).
//
// The paper prints it as one minus the sum of the first terms, which loses every digit where
// the risk is small. MoreThan adds the terms of the tail, or subtracts the others from one
// where the tail is the larger part.
func MoreThan(f int, mean float64) float64 {
	switch {
	case f < 0:
		return 1
	case mean <= 0:
		return 0
	case math.IsInf(mean, 1):
		return 1
	}
	if float64(f)+1 < mean {
		sum := 0.0
		for k := 0; k <= f; k++ {
			sum += term(k, mean)
		}
		return max(0, 1-sum)
	}
	// Beyond the mean each term is smaller than the one before by a factor that decreases as
	// well. So the rest is less than about f + 2 times the last term.
	sum := 0.0
	for k := f + 1; ; k++ {
		t := term(k, mean)
		sum += t
		if t <= sum*1e-17 {
			return min(1, sum)
		}
	}
}

// term is the probability of exactly k failures.
func term(k int, mean float64) float64 {
	factorial, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*math.Log(mean) - mean - factorial)
}

// meanForRisk is the largest expected number of failures at which more than f
// strike with a probability of at most risk, 0 < risk < 1.
func meanForRisk(f int, risk float64) float64 {
	low, high := 0.0, 1.0
	for MoreThan(f, high) <= risk {
		low, high = high, 2*high
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break
		}
		if MoreThan(f, middle) <= risk {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
