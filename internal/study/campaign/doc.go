// Package campaign simulates very many broadcasts: every combination of some parameters, each
// with many choices of the dead processes.
//
// [Parse] reads a [Spec], which says what to simulate. [Spec.Run] does it on several cores and
// appends one line of CSV for each broadcast to a file.
//
// A spec is YAML; each field but seed and runs is a value or a list of values:
//
//   - seed, runs: of the campaign, and of each combination;
//   - procs, L, o, gap: the LogP model; a gap of 0 is o;
//   - tree: binomial, kary:K, lame:K, optimal, gossip:STEPS or gossip-rounds:ROUNDS; numbering;
//   - correction: its name, with a distance (optimized:2, skip-ahead:0:4 for the left and
//     the right) or a delay (delayed:8); start;
//   - failed, failed_nodes: processes (or a share of all) and nodes that are dead from the start;
//     crashes: processes (or a share) that die on the way, each at a step of the time that the
//     broadcast takes without failures;
//   - node_size, placement, latency_within: nodes; noise.
//
// Parameters without a meaning in a combination (a start without corrections, a numbering of
// gossip, the placement where there are no nodes) are left out, and combinations that come out
// equal are simulated once.
//
// # Results
//
// Lines come in the order of the points (the combinations, the last parameter changing fastest),
// and within a point in that of its runs. So a file is the same, byte for byte, however many
// workers there are and however often the campaign was killed. A run that goes on checks each
// whole line against the Spec, cuts off one that was torn, and simulates the missing ones. Only
// one process at a time may write to a file, which a lock ensures.
//
// A Parquet file has its index at its end and can't be appended to. So [Spec.WriteParquet] makes
// it from the CSV, once that is complete: under another name, then moved into place, so that it
// is there whole or not at all. Its columns are those of a [Row]. The CSV stays: it is the
// journal, and a killed campaign goes on from it.
//
// A run's seed is a hash of the Spec's seed, the point and the run's number, not of what else the
// Spec holds. It is on the line, and [logp.Case.FailRandom] draws the same dead processes from it
// (banyan sim broadcast --failed-count N --seed SEED).
//
// # Engines
//
// Broadcasts that internal/study/campaign/incremental covers are evaluated by it, others by
// [logp.Simulator], with the same outcome.
//
// # Limits
//
// Every worker has memory for a simulation of its own. Lines that are ready before an earlier one
// wait in memory, a bounded number of them; a kill loses those, and they are simulated again.
package campaign
