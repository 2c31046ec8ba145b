// Package window is the memory of an MPI window within a host: parts, one of each member, that all
// members load from and store to, and locks of these parts.
//
// The memory is one memfd, which has no name: it goes with the last process that maps it, however
// the processes die. It begins with a head that says what it is, and the words of locks, turns and
// events (words.go); the parts follow, from the next page on. One member makes it; a Ticket, which
// it sends to the others, lets them open it.
//
// # Locks
//
// The lock of a part is words in the memory that say whose they are (lock.go). Who knows of a death
// clears what says that the dead member shared a lock, or wanted one. What says that it had one
// alone stays: the part is Abandoned, since nobody knows what it has left behind there. So is a
// part whose holder has left.
//
// # Events
//
// That a member has exposed its part to another one, or has completed its accesses there, it counts
// in words that only it writes (pair.go).
//
// # Turns
//
// Accumulates are among others at a part, or alone (turn.go): words in the memory say so. None of
// them keeps what a dead member has written there.
//
// # Invariants
//
//   - No process reads or writes outside of the memory, whatever is in its head: the sizes of the
//     parts come from the members' messages, and the memory can't be made smaller (it is sealed).
//   - A Memory never blocks: waiting is the engine's.
//   - While a member has a part's lock alone, no other live member has it.
//   - Who wants a lock alone waits for nobody that shares it later.
//   - While a member is alone at a part, no other live member accumulates there.
//
// # Limits
//
// Linux. A child that the program forks keeps the memory for as long as it lives. A member that is
// stopped, was taken for dead, and goes on may have a lock that another one has, too, until it is
// killed.
package window
