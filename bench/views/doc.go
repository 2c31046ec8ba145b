// Package views measures how long the processes of a real MPI job take, from the death of some of
// them, until all others hold the same view, and sets a group of as many members beside it. Views
// are those of Varma et al., "Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems"
// (2006); package bench/membership measures them in groups, without detection.
//
// # How it measures
//
// A job runs under banyan run, one for each run of a setting: so many ranks, or half as many with
// two replicas each. Every process goes through the job's views (mpi.Comm.Views) and writes when it
// has each into a table in shared memory, while its program waits, computes or sends messages. The
// bench waits until the job is at rest, kills the victims by SIGKILL, and reads the table.
//
// Times are from just before the first kill: until the first process has the view that excludes all
// victims, which is the coordinator, and until the last has. Unlike the stabilisation time of bench
// membership they contain the detection, and the time for which a coordinator gathers deaths: a
// twentieth of the job's heartbeat period. The group gathers for as long.
//
// # Invariants
//
//   - Every wait is bounded. The bench ends its jobs by an interrupt to their launchers, which end
//     the processes.
//   - In a replicated job no two victims are replicas of one rank, so no rank is lost.
//
// # Limits
//
// One machine; the processes share its processors, and the launcher sees deaths first. In a
// replicated job Connected connects the replicas of one index; the others connect when the view
// changes.
package views
