// Package noise measures what the failure detector's heartbeats cost an application: figure 8 of
// Bosilca et al., "A Failure Detector for HPC Platforms" (RR-9024), section 5.3.
//
// # How it measures
//
// A round is one job of each [Work] at each period η, with δ = Ratio·η, in an order that is turned
// round from round to round, so that all meet the machine in the same state. Jobs are started by
// banyan run, as a user's are. What is compared is the time at a period with that at the longest
// one in the same round. A job that ends with an error at some η is counted as failed: under load a
// short δ has a live process taken for dead, which is the accuracy that the paper reports.
//
// Beside the times stand instructions, which the machine's load doesn't change: those that
// heartbeats add to one operation, from those of a period (detection.CountHeartbeats) and the
// operation's time.
//
// # Limits
//
// One machine: heartbeats of processes of one host go through shared memory. The kernel's
// instructions aren't counted. A solver's time is that of its whole job, start and end included.
package noise
