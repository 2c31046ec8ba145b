// Package membership measures how long a group of real members takes to agree on a change, as
// Varma et al., "Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006),
// section 7, measured theirs, and sets the paper's models for this machine beside it.
//
// # How it measures
//
// Members are those of package group (internal/groupnode), over loopback TCP: in groups up to
// Plan.Apart each is a process of its own; in larger ones they are goroutines, up to 128 in a
// process. A group comes up, and goes through one change after the other; after each it is
// restored, at rest and connected for the next. Members write the times of what they do into a
// table in shared memory, by one clock (package processes).
//
// # What counts
//
//   - Stabilisation, the paper's: from the first proposal (in a takeover, the first question what
//     was accepted) that a coordinator sends until it has all acknowledgements. It gathers for no
//     time, and detection isn't in it.
//   - Commit: from then until the last member has installed the view.
//   - Messages: those of the agreement, sent by all members.
//
// Several deaths are one change, however many views they make: it is over when all live members
// have a view without the dead.
//
// # The models
//
// L is half a round trip of a proposal between two processes that do nothing else, Ocp a member's
// computation for one; both with 47 members. The contention model has L as package
// bench/contention measures it, by the number of nodes and children, in place of the one L.
// Nothing of the models comes from the stabilisation times that they are compared with.
//
// # Invariants
//
//   - Every wait is bounded, and its error names the missing members. Nothing stays behind:
//     processes die with the bench, however that ends.
//   - A member that ends by itself makes the run fail.
//
// # Limits
//
// One machine: all members share its processors, and the figures contain its other work. In the
// models a path of the tree is alone; here the work of all members adds up.
package membership
