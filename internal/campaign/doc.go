// Package campaign simulates very many broadcasts: every combination of some
// parameters, each with many choices of the dead.
//
// [Parse] reads what is to be simulated, a [Spec]. [Spec.Run] does it on several
// cores and appends one line of CSV for each broadcast to a file.
//
// # Results
//
// Lines come in the order of the points (the combinations, the last parameter
// changing fastest), and within a point in that of its runs. So a file is the same,
// byte for byte, however many workers there are and however often the campaign
// was killed: whoever goes on checks each whole line against the Spec, cuts off
// one that was torn, and simulates what is missing. Only one process at a time may
// write to a file, which a lock ensures.
//
// A run's seed is a hash of the Spec's seed, the point and the run's number, not of
// what else the Spec holds. It is on the line, and [logp.Case.FailRandom] makes
// the same dead of it (banyan sim broadcast --failed-count N --seed SEED).
//
// # Engines
//
// Broadcasts that internal/incremental covers are evaluated by it, others by
// [logp.Simulator], with the same outcome.
//
// # Limits
//
// Every worker has memory for a simulation of its own. Lines that another worker
// was faster with wait in memory, a bounded number of them; a kill loses those, and
// they are simulated again.
package campaign
