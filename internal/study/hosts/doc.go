// Package hosts simulates the agents of a job on many hosts: the machines of
// internal/proto/steward, the tree in which agents start each other, and the tree in which a
// steward tells all of a host's loss.
//
// # The model
//
// Sending takes a host the overhead o, then the message travels for the latency L, then receiving
// takes the other host o. A host's sends come one after the other, and so do its receives. Each
// host begins to ask for its lease at a moment of its own, and has a clock that runs up to
// Settings.Drift millionths wrong. A host that dies sends nothing more: nobody is told, and its
// connections don't close.
//
// An agent starts its children in the tree one after the other, each in Settings.Fork, and a child
// is there Settings.Start later.
//
// Every host runs one process, which stands for all of its processes. The steward has those of a
// lost host started anew on hosts drawn at random.
//
// # What is measured
//
// Times are from the fault, or from the start. See Outcome.
//
// # Limits
//
// There are no cuts, drops or pauses: the tests of internal/proto/steward have them. Messages take
// no longer if they are larger, and agents have nothing else to do.
package hosts
