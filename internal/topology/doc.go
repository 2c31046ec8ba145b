// Package topology computes the trees along which processes send to each other:
// which process is parent and child of which. It is arithmetic only: no communication, no
// state, no time. Beside the trees there are the failure detector's ring ([Ring])
// and the ways of its reliable broadcast ([Hypercubes]).
//
// A tree spans the positions 0…P-1, of which 0 is the root. It has a shape and a
// numbering (Küttler et al., "Corrected Trees", section 3.2):
//
//   - k-ary: every process has up to k children;
//   - binomial: every process that has been reached sends in every round;
//   - Lamé(k): a process that is reached in a round first sends k rounds later;
//     k = 1 is the binomial tree;
//   - optimal(L, o): the shape with the least latency in the LogP model with
//     latency L and overhead o: every process sends all the time.
//
// Interleaved numbering follows the order in which the processes are reached, so
// that a subtree is spread round the ring of positions and a dead process leaves
// many small gaps. In-order numbering is depth first: a subtree is one run of
// positions, and a dead process leaves one large gap.
//
// Trees need no table with an entry for each process. Parent and Children take
// time proportional to the rounds of the tree at most, which for usual
// parameters is a small multiple of log P; going on to the next child takes
// constant time, except for in-order optimal trees where o doesn't divide L
// (logarithmic).
//
// Invariants: a parent's position is below its children's; Parent and Children
// are each other's inverse; each position but 0 has exactly one parent.
//
// Limits: P ≤ MaxProcs. Interleaved optimal trees where o doesn't divide L are
// numbered by time as the others, but miss definition 1 (see
// [Tree.Interleaved]): dead processes may leave larger gaps.
package topology
