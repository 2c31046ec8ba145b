// Package risk does the arithmetic by which an operator chooses η and δ. It computes how likely
// failures are to overlap more than the detector is proven for, after Bosilca et al., "A
// Failure Detector for HPC Platforms" (RR-9024), section 3.3 and figure 3.
//
// Theorem 1 bounds the time T(f) in which the detector returns n nodes to a stable
// configuration after f overlapping failures, for f up to M = ⌊log2 n⌋ − 1. Failures strike
// independently at the rate λ = n/μ, where μ is the mean time between failures of one node. So
// the number within a span is Poisson distributed. The risk is the probability P_T(f) of more
// than M failures within T(M). It grows with δ, so a given risk has a largest δ: an upper
// bound. Accuracy sets the lower bound: δ must exceed η and every delay that a live node's
// heartbeat may have. Recommend combines both.
//
// The risk is a bound on a bound. T(M) supposes that all failures hit neighbours on the ring
// and that no two broadcasts overlap, and more failures than M don't imply that any is missed.
//
// Spans are Seconds, in floating point: a node's years and a message's
// microsecond meet in one formula, and 292 years would be the end of
// time.Duration.
package risk
