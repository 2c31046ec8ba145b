// Package shm is the medium within a host: rings in shared memory, and the doorbells
// that tell whom to look at. Package mesh makes the links and polls them.
//
// The memory has no names: it's made by memfd_create, and its descriptors are
// handed over a unix socket (link.go) once two processes have met. It goes with the last
// process that has it mapped, so nothing is left behind however they all die, and no limit
// of /dev/shm applies.
//
//   - Pair is the memory of two processes: a ring for each direction (ring.go),
//     with one Writer and one Reader. It's made when they first have
//     something to say to each other.
//   - Doorbells is a page of each process, which its peers ring in.
//   - Link is all that a process shares with one peer.
//
// # Invariants
//
//   - A record is published by one store, the last: a writer that dies has
//     written it or hasn't.
//   - No lock is shared. Nobody waits for another process to do anything.
//   - Whatever is in the memory, nobody reads or writes outside it: it can't be made
//     smaller (it is sealed), every length is looked at once and checked against
//     what was mapped, and headers and small payloads are copied out before
//     anybody interprets them. A ring with nonsense in it is an error, the end of its link.
//   - A writer that finds the reader awake makes no system call.
//
// # Limits
//
// Linux. Each process of a link maps both rings, RingSize bytes each, so the rings of
// a process in touch with all others of a large job take up to ringBudget and a bit,
// and what it writes to counts as theirs. A forked child has no part in it.
package shm
