// Package membership measures how long a group of real members takes to agree on a change, as Varma
// et al., "Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006), section 7, measured
// theirs, and sets the paper's models for this machine beside it.
package membership
