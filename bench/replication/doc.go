// Package replication measures what replication costs and how long a death holds up: section 4 of
// Lefray, Ropars and Schiper (figure 7, tables 1 and 2), and what that leaves out, the mirror
// protocol on the same system and runs with faults.
//
// # Method
//
// The paper gives each process a core of its own. Here there may be fewer cores than processes,
// and a job with r replicas does r times the work. So it is compared with r unreplicated jobs
// side by side, started at once, with the same number of processes on the same cores: the time
// until all is done, of the one and of the others. On r·n cores this measures what the paper
// measured.
//
// In each round every setting runs once, in every second round in the other order. Ratios are
// taken within a round, since a machine's speed changes from minute to minute; figures are
// medians of the rounds with quartiles, those of applications estimates with their intervals
// (package ratio). An overhead is a ratio less 1.
//
// The failover pause runs from just before the SIGKILL to when the dead sender's receiver has the
// next message from the substitute. So it includes the time that the kill takes, the news of the
// death, and the messages that the substitute has to catch up with; messages of the dead that are
// still under way when it dies don't count. With healing it is the longest wait for a message
// between the failover and the replacement's first message, of all ranks that the healed rank
// sends to.
//
// # Invariants
//
//   - Programs are send-deterministic: their numbers of messages are arguments, not derived from
//     the clock.
//   - All times are of CLOCK_MONOTONIC, one clock for all processes of a machine.
//   - Nothing stays behind: jobs end with the context, and with the bench if that is killed
//     (TestKilled), so that one that goes on in its place measures on a quiet machine.
//
// # Limits
//
// One machine.
package replication
