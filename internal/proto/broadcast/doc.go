// Package broadcast is the corrected tree of Küttler et al. (PPoPP '19), section
// 3: one message from a root reaches every live process, without a failure
// detector. It is spread along a tree first (dissemination). Processes that the tree
// misses, because an ancestor is dead, are reached along the ring of positions
// (correction).
//
// Processes are positions 0…P-1 with the root at 0. What all of them know in
// advance is one shared, immutable [Config]; what one of them knows is a
// [State], a small value without pointers, so that a simulator can keep millions.
// Messages are a [Kind] only: the payload is the driver's matter.
//
//	c.Start(&s, self)                        // once at every process; colours the root
//	coloured := c.Receive(&s, from, kind)    // a message; true: the payload is new here
//	to, kind, ok := c.SendReady(&s, now)     // the process could send: the next message, if any
//
// The driver hands over what has been received before it asks for the next
// message, and carries messages of one pair of processes in order. A machine that
// had nothing to send may have after a Receive, or at [Config.Deadline].
//
// # Corrections
//
// The variants, each in a file of its own, decide whether and where a coloured
// process that has sent its tree messages sends a correction next:
//
//   - NoCorrection: dissemination alone.
//   - Acknowledged (acknowledged.go): a plain tree whose processes tell their parent
//     when all below have the message. The classical baseline: it finds that
//     some process is dead (the root never becomes done), but reaches no other by it.
//   - Checked (checked.go): along both sides of the ring until one meets another process that
//     corrects. Reaches every live process, whatever others were dead from the start.
//   - Opportunistic (opportunistic.go): to some neighbours on each side, or on one.
//     Overlapped, it reaches every live process as long as no d neighbours in
//     a row are dead, d being the larger of both distances; synchronised, as long as
//     dissemination leaves no gap of more than their sum.
//   - SkipAhead (skipahead.go): the same, without messages to processes on one side that a
//     neighbour on the other is known to reach. Promises what Opportunistic does.
//   - Optimised (optimised.go): the paper's rule, without messages to any process that a
//     neighbour should reach. Two may rely on each other, so that a live process may stay
//     uncoloured as soon as one is dead. With corrections in one direction it is SkipAhead.
//   - Ordered (ordered.go): the same for those neighbours only that come before in an order of all
//     processes. Promises what Opportunistic does, and costs little more than Optimised.
//   - Delayed (delayed.go): one message each and an answer for those that miss it.
//     Reaches every live process, as checked correction does.
//   - FailureProof (failureproof.go): until all are known to have been sent to.
//     Reaches every live process although others, at any point of the
//     broadcast, die; if the root dies too, every one or none.
//
// Dissemination is the tree, or gossip (gossip.go): to processes chosen at random,
// for a fixed time or a number of rounds. It promises nothing by itself, and
// opportunistic correction of it only what it does for gaps.
//
// Synchronised correction begins at a time given in advance, at all processes that
// dissemination has reached by then. Overlapped correction begins at each process
// when it has sent its tree messages, or has gossiped; a process that a correction
// reaches first sends tree messages to its children all the same, since it can't
// know whether its parent is dead.
//
// # Invariants
//
// A process is coloured once and never loses its colour; it sends at most one
// tree message to each child, at most P corrections (twice as many delayed or
// failure-proof ones, with the answers) and at most one acknowledgement. Only coloured
// processes send. Every broadcast ends.
//
// # How the promises are checked
//
// For few processes every interleaving of sends and arrivals is explored, with
// every set of dead processes (explore_test.go), and for failure-proof correction to
// 6 processes with every crash point of every process at once, for a bushy and
// a deep tree (crash_test.go says how, and what it leaves out). Larger ones run in
// random orders, with random crashes to 4,096 processes.
//
// # Limits
//
// Except with FailureProof, deaths are covered if they happen before a process's first
// message; a process that dies between two messages may leave others uncoloured
// (Stream mends that, with a failure detector). Acknowledged trees with a dead
// process never become quiet at the root. Overlapped delayed correction needs a
// driver that asks each machine for its own Deadline, as the simulator does.
package broadcast
