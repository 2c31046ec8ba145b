package probing

import "math"

// Histogram counts runs by their outcome, a small whole number.
type Histogram struct {
	Counts []int // Counts[x] runs came out as x
}

// Add has some more runs come out as x, from 0 on.
func (h *Histogram) Add(x, runs int) {
	for x >= len(h.Counts) {
		h.Counts = append(h.Counts, 0)
	}
	h.Counts[x] += runs
}

func (h *Histogram) merge(other *Histogram) {
	for x, n := range other.Counts {
		if n > 0 {
			h.Add(x, n)
		}
	}
}

// Runs is their number.
func (h *Histogram) Runs() int {
	runs := 0
	for _, n := range h.Counts {
		runs += n
	}
	return runs
}

// Mean is the average outcome, and half the width of its 95 % confidence interval
// (normal; infinite for a single run).
func (h *Histogram) Mean() (mean, halfWidth float64) {
	runs := float64(h.Runs())
	for x, n := range h.Counts {
		mean += float64(x) * float64(n)
	}
	mean /= runs
	if runs < 2 {
		return mean, math.Inf(1)
	}
	square := 0.0
	for x, n := range h.Counts {
		square += float64(n) * (float64(x) - mean) * (float64(x) - mean)
	}
	return mean, 1.96 * math.Sqrt(square/(runs-1)/runs)
}

// Quantile is the smallest outcome that at least the share q of the runs doesn't
// exceed: 0 gives the minimum and 1 the maximum.
func (h *Histogram) Quantile(q float64) int {
	need := max(1, int(math.Ceil(q*float64(h.Runs()))))
	for x, n := range h.Counts {
		if need -= n; need <= 0 {
			return x
		}
	}
	return len(h.Counts) - 1
}
