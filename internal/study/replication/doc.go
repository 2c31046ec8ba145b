// Package replication simulates replicated jobs: programs with a pattern of communication (package
// pattern), above the machines that real jobs run, internal/proto/replica, causal and match, in
// LogGP time (internal/study/driver/loggp). It tells what the parallel and the mirror protocol cost
// at sizes that no machine at hand has: Lefray, Ropars and Schiper's tables 1 and 2 are of 256
// ranks with two replicas each.
//
// # What is modelled
//
//   - A process has one processor for its program and its messages. Sending a message takes it the
//     overhead o and a copy into the network, receiving one o and a copy out of it, and another one
//     if it came before its receive. A replicated sender copies once more, because it retains.
//     [Costs] has them all.
//   - Frames are those of package process, with their headers and stamps: messages of up to
//     EagerLimit are sent whole, larger ones offered, pulled and sent; acknowledgements go for 64
//     arrivals, 32 KiB or 5 ms; with mirror, reports and throttling; sends wait where too much is
//     retained. TestFramesOfRealProcesses compares them with a real Process's, frame by frame.
//   - A process handles frames while its program waits. While it computes they lie in the network,
//     until after 2 ms the progress thread takes them in, on the same processor.
//   - A death is clean: what the process has handed to its port is sent. The others hear of it
//     after Settings.Detection, at once even if they compute. Substitutes send what they retain;
//     messages wait for their cause; transfers turn to another sender.
//   - A replacement is a new incarnation, one at a time, with its donor's state: notes, state and
//     pauses as in package process (Healing). All processes of a job take part in the conversation.
//     Those outside of the neighbourhood cost the others' processors what their frames do.
//   - Each process draws how long it computes, replica 0 of a rank as the rank in the job without
//     replicas, so that jobs that are compared have the same program.
//
// # Invariants
//
//   - The outcome depends on the Settings alone, not on the number of workers.
//   - A job ends, or loses a rank ([Lost]). Any other end is an error.
//   - Without deaths no process is sent a message twice, but with mirror.
//
// # Limits
//
// Causality is simulated where a receive names no source: where all receives name theirs it can't
// change what a program receives, and its clocks, 4 bytes for each rank at each process, wouldn't
// fit into memory. Stamps are on the wire in either case, unless Settings.NoStamps. Collectives
// take part in the program's clock.
//
// Of healing, a replacement's way to its first safe point is a time (Healing.After), and the frames
// aren't compared with real processes' yet. Replacements aren't killed by Crashes. The state is one
// frame in the network.
//
// A message above EagerLimit is one frame in the network. Heartbeats, views, the shutdown and the
// start of a job aren't simulated, nor are verification, ranks of different degrees,
// deaths that lose a rank in jobs that survive it, and hosts whose processes share a port. Only
// frames queue; the queue of a port has no bound.
//
// A process takes about 4 KB, and 500 bytes for each rank that it exchanges messages with.
package replication
