// Package check compares what the replicas of a rank send, call by call.
//
// Replication masks deaths only if the replicas of a rank make the same calls with any timing. This
// is send-determinism (Lefray, Ropars, Schiper, section 2.2). A program that isn't
// send-deterministic seems to work until a death, or until two replicas happen to see messages in
// different orders. "banyan check" runs the program with perturbed timing. A Recorder in each
// process writes down what the program calls. A Comparison reads along and finds the first
// difference.
//
// # What is compared
//
// The calls that send are compared: point-to-point sends and collectives, in the order in which
// each rank makes them. The control of a call is the function, the destination or root, the tag,
// the communicator and the length. Its payload is a digest of the bytes that travel, without the
// gaps of a derived datatype. A difference in control breaks replication. A difference in payload
// alone may be harmless, for example if a program reduces timers. It is counted separately.
//
// Receives are recorded as well, but may differ. They explain differences: if a wildcard receive
// got another message, a difference in a later send is most likely its consequence.
//
// The call site in the program is recorded, too, and isn't compared. The Go runtime tells it for
// programs in Go. For others the C library records an address, which becomes a source line when a
// difference is reported.
//
// # Limits
//
// All sends of a process's threads are one sequence here: their order must be the same at all
// replicas, as causal order in replicated jobs requires, too. A program that passes k runs isn't
// proved right.
package check
