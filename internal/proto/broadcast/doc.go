// Package broadcast is the corrected tree of Küttler et al. (PPoPP '19), section
// 3: one message from a root reaches every live process, without a failure
// detector. It is spread along a tree first (dissemination); whom the tree
// misses, since somebody above is dead, is reached along the ring of positions
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
//   - NoCorrection: a plain tree.
//   - Acknowledged (acknowledged.go): a plain tree whose processes tell their parent
//     when everyone below has the message. The classical baseline: it finds that
//     somebody is dead (the root never becomes done), but reaches nobody by it.
//   - Checked (checked.go): along both sides of the ring until one meets another who
//     corrects. Reaches every live process, whoever else was dead from the start.
//   - Optimised (optimised.go): to d neighbours on each side, without those whom
//     a neighbour is known to reach. Overlapped, it reaches every live process
//     as long as no d neighbours in a row are dead; synchronised, as long as the
//     tree leaves no gap of more than 2d.
//
// The paper's other variants (opportunistic, delayed, failure-proof; gossip in
// place of the tree) have their place here: a file with the function that says
// how far the next correction goes, and a row in correct.
//
// Synchronised correction begins at a time given in advance, at all processes that
// the tree has reached by then. Overlapped correction begins at each process
// when it has sent its tree messages; a process that a correction reaches first
// sends tree messages to its children all the same, since it can't know whether
// its parent is dead.
//
// # Invariants
//
// A process is coloured once and never loses its colour; it sends at most one
// tree message to each child, at most P corrections and at most one
// acknowledgement; only coloured processes send. Every broadcast ends.
//
// # Limits
//
// Deaths are covered if they happen before a process's first message; a process
// that dies between two messages may leave others uncoloured (Stream mends
// that, with a failure detector). Acknowledged trees with a dead process never
// become quiet at the root.
package broadcast
