// Package rollback takes coordinated snapshots of a job whose ranks have one process each, and
// goes back to the last one when a process dies. It is our own protocol, made of known parts: a
// blocking coordinated checkpoint whose channels are flushed by markers (after Chandy and
// Lamport, 1985), two versions of each checkpoint, and a copy of each on another host (a buddy,
// as in diskless checkpointing: Plank, Li, Puening, 1998).
//
// # A snapshot
//
// A program has safe points, which it counts. A Coordinator, in the launcher, leads; a Participant
// is in each rank's process; a Store is on each host, and outlives the processes there.
//
//	coordinator              rank
//	Hold          →          from now on it doesn't pass its next safe point
//	              ← Holding  the number of that safe point
//	Aim           →          it goes on to the highest of these numbers, and stands there
//	              ← Paused   to whom it has ever sent; each of these gets a marker behind that
//	Flush         →          from whom markers come; when all have, nothing is under way to it
//	              ← Captured its own host has its state, with the messages that aren't received
//	Resume        →          when all have said so: it goes on
//	Copy          → hosts    while the ranks go on: to each rank's buddy, and to disk
//	Commit        → hosts    when all copies are there: older snapshots are forgotten
//
// All ranks stand at the safe point of one number. A rank that comes there needs only what the
// others send before theirs, if the program's safe points belong together, as those of a loop
// that all ranks run. Where they don't, a rank doesn't come, and the snapshot is abandoned after
// a limit: all go on, and nothing else happens.
//
// # A rollback
//
// When a process dies, all others are killed, and all start again in a new epoch. They run from
// the program's beginning to their first safe point, with each other. There the same conversation
// follows, from Paused on: what is under way is flushed and dropped, and each rank loads its part
// of the last committed snapshot, with the messages that it held. Before the first commit they go
// on from the beginning. Nothing of an older epoch counts: messages, reports and copies name
// theirs.
//
// # Invariants
//
//   - All ranks load parts of one snapshot, which was committed: every rank's part was stored at
//     its own host, at its buddy if it has one, and on disk if there is one.
//   - The parts and the messages that they hold are a consistent cut: each message that a rank has
//     sent before it is received before it at the other rank, or is held, and no other is.
//   - Until a snapshot is committed no Store forgets the one before.
//   - A job whose committed snapshot has lost the last copy of a part ends with the reason. It
//     never goes back to the beginning for that, nor on with other parts.
//   - Each rank that stands at a safe point is resumed or killed.
//   - A job that goes back more than MaxRestarts times to one snapshot ends: its program fails
//     there.
//
// # What is explored
//
// world_test.go has a ring of ranks in which a message is under way at each safe point. Hosts and
// processes die at every moment, also while a snapshot is taken, copied or loaded; messages of
// dead processes arrive late. explore_test.go has the sizes. canary_test.go has the mistakes that
// the exploration must find.
//
// # Limits
//
// The Coordinator isn't replicated: a job ends with its launcher, and goes on from disk. A
// snapshot that was being copied when a process died is discarded, though all processes had
// captured it.
package rollback
