// Package risk does the arithmetic by which an operator chooses η and δ: how
// likely it is that failures overlap more than the detector is proven for, after
// Bosilca et al., "A Failure Detector for HPC Platforms" (RR-9024), section 3.3
// and figure 3.
//
// Theorem 1 bounds the time T(f) in which the detector leads n nodes back to a
// stable configuration after f overlapping failures, for f up to M = ⌊log2 n⌋ − 1.
// With failures that strike independently at the rate λ = n/μ, μ being the mean
// time between failures of one node, the number within a span is Poisson
// distributed; the risk is the probability P_T(f) of more than M failures within
// T(M). It grows with δ, so there is a largest δ for a risk: an upper bound. The
// lower bound is accuracy's: δ must exceed η and every delay that a living node's
// heartbeat may suffer. Recommend puts both together.
//
// The risk is a bound on a bound: T(M) supposes that all failures hit neighbours
// on the ring and that no two broadcasts overlap, and more failures than M don't
// imply that anything is missed.
//
// Spans are Seconds, in floating point: a node's years and a message's
// microsecond meet in one formula, and 292 years would be the end of
// time.Duration.
package risk
