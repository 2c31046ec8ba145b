// Package check compares what the replicas of a rank send, call by call.
//
// Replication masks deaths only if the replicas of a rank make the same calls, whatever
// the timing: send-determinism (Lefray, Ropars, Schiper, section 2.2). A program that
// isn't send-deterministic seems to work until a death, or until two replicas happen to
// see messages in different orders. "banyan check" runs it with timing that is perturbed
// on purpose, a Recorder in each process writes down what the program calls, and a
// Comparison reads along and finds the first difference.
//
// # What is compared
//
// Calls that send: point-to-point sends and collectives, in the order in which each rank
// makes them. Control is the function, the destination or root, the tag, the
// communicator and the length; the payload is a digest of the bytes that travel, so the
// gaps of a derived datatype don't count. A difference in control breaks
// replication. One in payload alone may be innocent, as where a program reduces
// timers, and is counted apart.
//
// Receives are written down as well, but may differ. They serve to explain: a
// difference in what a rank sends next to a wildcard receive that got another message
// is most likely its consequence.
//
// Where a call stands in the program is written down, too, and not compared: by the Go
// runtime for programs in Go, as an address by the C library for others, which becomes a line when a
// difference is told.
//
// # Limits
//
// Several threads of a process that send are one sequence here: their order must be the
// same at all replicas (as causal order in replicated jobs supposes, too). A program
// that passes k runs isn't proved right.
package check
