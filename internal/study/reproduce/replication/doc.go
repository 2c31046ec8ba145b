// Package replication repeats section 4 of Lefray, Ropars and Schiper, "Replication for
// Send-Deterministic MPI HPC Applications" (FTXS 2013): figure 7 and tables 1 and 2, in form. [Run]
// returns a report that sets the numbers of the paper beside those of a machine at hand, and beside
// simulated ones of the paper's 256 ranks.
//
// Nothing is run here. The measurements come from package bench/replication, and the predictions
// from a file (see [ReadPredictions]).
//
// # Method
//
// The paper has a core for each process. Where there are fewer, a job with r replicas is compared
// with r jobs without replicas side by side, on the same cores. Ratios are taken within a round,
// and an overhead is an estimate with its interval of 95 % confidence (package ratio). A claim
// agrees if its whole interval does, and differs if its whole interval does; otherwise it is open.
//
// # Invariants
//
// The same measurements and predictions give the same report.
//
// # Limits
//
// The curves of figure 7 are lost with the picture: what the text says of them is compared.
package replication
