// Package window is the memory of an MPI window within a host: parts, one of each member, that all
// members load from and store to, and locks of these parts.
//
// The memory is one memfd, which has no name: it goes with the last process that maps it, however
// the processes die. It begins with a head that says what it is, a word for each member, and the
// words of turns; the parts follow, from the next page on. One member makes it; a Ticket, which it
// sends to the others, lets them open it.
//
// # Locks
//
// The lock of a part is the system's: a record lock of one byte of the memfd, owned by the open
// file description that each member has for itself. So the system releases it when its holder
// dies, and no process waits for memory that a dead one should have written. A holder of an
// exclusive lock writes its number into the part's word, and removes it before it unlocks. Who
// finds a free lock with a number in the word knows that its holder died in the middle of its
// work, or left: the part is Abandoned, and stays so.
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
//   - A lock's word is written only by the holder of its part's exclusive lock.
//   - While a member is alone at a part, no other live member accumulates there.
//
// # Limits
//
// Linux. A child that the program forks keeps the memory and the shared locks of its parent for as
// long as it lives.
package window
