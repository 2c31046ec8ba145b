// Package shm is the medium within a host: rings in shared memory, and doorbells that tell a
// process which peers' rings to look at. Package mesh makes the links and polls them.
//
// The memory has no names: memfd_create makes it, and two processes hand each other its
// descriptors over a unix socket once they are connected (link.go). The memory goes with the last
// process that maps it, so nothing is left behind, however the processes die, and no limit of
// /dev/shm applies.
//
//   - Pair is the memory of two processes: a ring for each direction (ring.go), with one Writer
//     and one Reader. It is made when one of the two first sends to the other.
//   - Doorbells is a page of memory of each process, in which its peers ring.
//   - Link is all that a process shares with one peer.
//
// # Invariants
//
//   - One store, the last, publishes a record: a writer that dies has written the whole record or
//     nothing.
//   - Processes share no lock, and no process waits for another one to act.
//   - No process reads or writes outside the memory, whatever is in it. The memory can't be made
//     smaller (it is sealed). Each length is read once and checked against the mapped size.
//     Headers and small payloads are copied out before they are interpreted. Nonsense in a ring
//     is an error and ends the link.
//   - A writer that finds the reader awake makes no system call.
//
// # Limits
//
// The package needs Linux. Each process of a link maps both rings, RingSize bytes each. The rings
// of a process that is linked with all others of a large job take slightly more than ringBudget.
// A forked child doesn't have the memory.
package shm
