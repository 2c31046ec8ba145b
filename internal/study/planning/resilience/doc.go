// Package resilience does the arithmetic by which a user decides whether to replicate a job: how
// long it is expected to run, on so many nodes that fail so often, with checkpoints alone and
// with replication above them. Lefray, Ropars and Schiper ("Replication for Send-Deterministic
// MPI HPC Applications", 2013, introduction) quote others that replication can win at scale; this
// package computes at which scale.
//
// # The model
//
// Nodes fail independently, each after an exponentially distributed time of mean M,
// and a node runs one process. A rank is lost when its last replica dies; that
// interrupts the job, which restarts from its last checkpoint with all nodes whole.
//
//   - [Layout]: which ranks have how many replicas. A degree that isn't a whole number is
//     partial replication.
//   - [Nodes.Interruption]: the mean time to interruption (MTTI) and the mean number of
//     failures to it. Without healing the job survives t with the probability
//     S(t) = Π over its ranks (1 − (1 − e^(−t/M))^r), and MTTI = ∫ S(t) dt; these are the
//     right values of Casanova, Robert, Vivien and Zaidouni (2012), not those of the
//     birthday problem (Ferreira et al., SC 2011). With healing each rank is a
//     birth–death chain, whose S is computed likewise.
//   - [Checkpointing]: Young's and Daly's intervals, the exact optimum, and Daly's
//     complete expression for the run time ("A higher order estimate of the optimum
//     checkpoint interval for restart dumps", 2006).
//   - [Job]: both together, with the same nodes or with the same ranks.
//   - [Job.Simulate]: the same job failure by failure, to measure the error of the
//     approximations.
//
// # Approximations
//
// Daly's expression takes interruptions as exponential. Without replication they are; with
// healing that is fast against M nearly; replicas that are never replaced wear out instead,
// so interruptions are rare at first and then frequent. A node's repair takes an
// exponentially distributed time in the chain, a constant one in the simulation.
//
// # Limits
//
// Failures that take several nodes at once, infant mortality and undetected errors aren't
// modelled. Work divides evenly among ranks however many they are. That is unfavourable to
// replication: with half the ranks a real job loses less than half its speed. A checkpoint costs
// the same for all degrees: one replica of each rank writes it.
package resilience
