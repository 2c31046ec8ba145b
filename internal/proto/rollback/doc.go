// Package rollback takes coordinated snapshots of a job, and goes back to the last one when a
// rank is lost: its only process dies, or the last of its replicas. It is our own protocol, made
// of known parts: a blocking coordinated checkpoint whose channels are flushed by markers (after
// Chandy and Lamport, 1985), two versions of each checkpoint, and a copy of each on another host
// (a buddy, as in diskless checkpointing: Plank, Li, Puening, 1998).
//
// # A snapshot
//
// A program has safe points, which it counts. A Coordinator, in the launcher, leads; a Participant
// is in each rank's process; a Store is on each host, and outlives the processes there.
//
//	coordinator              process
//	Hold          →          from now on it doesn't pass its next safe point
//	              ← Holding  the number of that safe point
//	Aim           →          it goes on to the highest of these numbers, and stands there
//	              ← Paused   to whom it has ever sent; each of these gets a marker behind that
//	Flush         →          from whom markers come; when all have, nothing is under way to it
//	                         with replicas, how many messages each rank has sent
//	              ← Captured its own host has its state, with the messages that aren't received
//	Resume        →          when all have said so: it goes on
//	Copy          → hosts    while they go on: where a rank's parts are on one host, to its buddy;
//	                         and to disk
//	Commit        → hosts    when all copies are there: older snapshots are forgotten
//
// All ranks stand at the safe point of one number. A rank that comes there needs only what the
// others send before theirs, if the program's safe points belong together, as those of a loop
// that all ranks run. Where they don't, a rank doesn't come, and the snapshot is abandoned after
// a limit: all go on, and nothing else happens.
//
// # A rollback
//
// When a rank is lost, all others are killed, and all start again in a new epoch. They run from
// the program's beginning to their first safe point, with each other. There the same conversation
// follows, from Paused on: what is under way is flushed and dropped, and each rank loads its part
// of the last committed snapshot, with the messages that it held. Before the first commit they go
// on from the beginning. Nothing of an older epoch counts: messages, reports and copies name
// theirs.
//
// # Replicas
//
// Each process has a part. Replicas of a rank have sent the same up to a safe point, so a part of
// any of them goes with one of any replica of each other rank, and is worth as much as a copy.
//
// A death with a live sibling is masked: it abandons the snapshot that is being taken, and nothing
// else. While a snapshot is loaded it makes all go back again: there is no state yet. A replica
// may have been ahead when it died. What it had sent behind the safe point at which its siblings
// stand is sent again by those. So it isn't part of a snapshot: what a rank had sent there is
// counted, and each message says which of its rank's it is. Siblings whose counts differ don't
// stand at the same place, and the snapshot is abandoned.
//
// A dead replica may be replaced (Joins, Joined, EndJoining). No snapshot is taken meanwhile, and
// no replacement is started while one is taken, copied or loaded. If the last replica of a rank
// dies while a replacement may have its state, the rank is lost if that fails.
//
// # Leader order
//
// In leader order (package order) what a process sends waits until its siblings know what was
// decided. It comes to a safe point at which it is to stand when nothing waits any more: a marker
// must be behind all that the program has sent.
//
// Before its first safe point a rank decides things that its registered state says nothing of. Its
// part has them, and a process of a later epoch begins with them (Order.Repeats). So it is told
// when its part is at its host (Start), and its program doesn't begin before. All of that must fit
// together, so all stand at their first safe point until all have come there (gather.go).
//
// What a dead replica has decided behind the safe point is in no part. So nothing of a snapshot may
// depend on it: it isn't taken where a message from behind a safe point is here, received or not. A
// program may have seen it.
//
// # Invariants
//
//   - All processes load parts of one snapshot, which was committed: every live process's part was
//     stored at its own host, a second one of its rank on another host if there is one, and one on
//     disk if there is a disk.
//   - The job goes back only if a rank is lost, or before all have loaded their parts.
//   - The parts and the messages that they hold are a consistent cut: each message that a rank has
//     sent before it is received before it at the other rank, or is held, and no other is.
//   - Until a snapshot is committed no Store forgets the one before.
//   - A job whose committed snapshot has lost the last copy of a part ends with the reason. It
//     never goes back to the beginning for that, nor on with other parts.
//   - Each process that stands at a safe point is resumed or killed.
//   - A job that goes back more than MaxRestarts times to one snapshot ends: its program fails
//     there.
//
// # What is explored
//
// world_test.go has a ring of ranks in which a message is under way at each safe point. Hosts,
// processes and replacements die at every moment, also while a snapshot is taken, copied or
// loaded; messages of dead processes arrive late; live processes are taken for dead, and killed a
// while later. worldled_test.go has leader order, explore_test.go the sizes. canary_test.go has the
// mistakes that the exploration must find.
//
// # Limits
//
// The Coordinator isn't replicated: a job ends with its launcher, and goes on from disk. A
// snapshot that was being copied when a process died is discarded, though all processes had
// captured it. With replicas that is so if a host is lost meanwhile; a process that dies then has
// its part still. A job in which replacements are under way all the time has no snapshots.
package rollback
