package probing

import "math"

// Unprobed is p(n): the probability that in a round none of the n − 1 others, each
// choosing among n − 1, probes a given node. n ≥ 2.
func Unprobed(n int) float64 { return unprobed(float64(n-1), float64(n-1)) }

// PrintedUnprobed is p(n) as the paper prints it, ((n−1)/n)^(n−1), by which nodes
// could choose themselves. Both tend to 1/e.
func PrintedUnprobed(n int) float64 { return unprobed(float64(n), float64(n-1)) }

// unprobed is (1 − 1/choices)^probers without the loss of digits.
func unprobed(choices, probers float64) float64 {
	if choices <= 1 {
		return 0
	}
	return math.Exp(probers * math.Log1p(-1/choices))
}

// RoundsForOne is how many rounds it takes until a given node has been probed with
// a probability of at least 1 − risk: the x of p^x = risk (not rounded up). The paper
// uses it for all nodes; for that see RoundsForAll.
func RoundsForOne(n int, risk float64) float64 {
	p := Unprobed(n)
	if p == 0 {
		return 1
	}
	return math.Log(risk) / math.Log(p)
}

// RoundsForAll is how many rounds it takes until the expected number of unprobed
// nodes, and so the probability that there is one, is down to the risk: n p^x = risk.
func RoundsForAll(n int, risk float64) float64 { return RoundsForOne(n, risk/float64(n)) }

// MeanRounds is the mean number of rounds until all have been probed, if the nodes'
// fates were independent: the sum over x of 1 − (1 − p^x)^n. They are nearly so: the
// simulation confirms it.
func MeanRounds(n int) float64 {
	p := Unprobed(n)
	if p == 0 {
		return 1
	}
	sum, power := 0.0, 1.0
	for power*float64(n) > 1e-15 {
		sum += -math.Expm1(float64(n) * math.Log1p(-power))
		power *= p
	}
	return sum
}

// MostBounds are the bounds on the most probes that hit one node in a round, with a
// probability of 1 − 1/n, which the paper takes from the theory of balls and bins:
// ln n/ln ln n and three times that. n ≥ 3.
func MostBounds(n int) (low, high float64) {
	ln := math.Log(float64(n))
	low = ln / math.Log(ln)
	return low, 3 * low
}
