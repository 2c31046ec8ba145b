// Package trial runs a program several times with every rank replicated and its timing perturbed,
// and compares what the replicas send: it is what "banyan check" does. Package check records and
// compares one run; this package starts the runs, stops them where there is no more to learn, and
// puts what they showed together.
//
// # Invariants
//
//   - A run ends: with its job, [afterwards] after a difference, or when no rank has sent anything
//     for [Config.Patience].
//   - A run leaves nothing behind: its records lie in a directory that is removed.
//
// # Limits
//
// A program that passes isn't proved right: other delays may show a difference.
package trial
