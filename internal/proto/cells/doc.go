// Package cells is small collectives of processes that share memory: which member writes what
// where, what it waits for, and what a death in the middle of a call means.
//
// A [Machine] is one member's part in the calls of one communicator. It performs no access itself:
// Next says which access to the shared memory is due, the driver carries it out, and Result takes
// what was read. So each store is a step of its own, before which a process may die, and tests
// explore every order of the steps of all members.
//
// # The memory
//
// All of it is zero at first.
//
//   - Each member has Depth cells; call k uses cell k modulo Depth. A cell has a word, a turn and
//     room for data. The word says what has been published there: the number of the call, and a
//     note, in which members say what they believe the call to be. The turn is the number of the
//     call whose data is in the cell, or being written there.
//   - Each member has a word done: it has completed all calls up to that number. Calls in which
//     all hear from all leave it alone: the next call of a member says as much.
//   - sleepers has a bit for each member that sleeps or is about to, and each member has a word
//     waits, which says for what.
//
// Only the owner writes its cells, done and waits, with one exception: others close a word.
//
// # Calls
//
// A member that gives first sees that all live members have completed the call that used the cell
// before; it knows that for most calls without looking. Then it writes the turn, the data and, by
// one compare-and-swap, the word. A member that takes waits for the word, reads the data, and
// looks at the turn once more.
//
// # Deaths
//
// The memory stays when a process dies, so what was published can be taken. A member waits for
// a dead one in vain only if the dead one hadn't published:
//
//   - In a call from the root to all, a member that waits for a dead root closes the root's word by
//     a compare-and-swap. If it finds the call published instead, it takes it. The two
//     compare-and-swaps, the root's and this one, can't both succeed. So either every live member
//     hears from the root or none does, wherever the root died, and even if it hadn't died but was
//     taken for dead: then its own compare-and-swap fails, and tells it so. Other deaths don't
//     matter to the call.
//   - In an agreement, in which all hear from all, members close the words of dead ones, too. So of
//     each member all read what it gave, or none does, and all that live have the same outcome:
//     Done, or Undecided. No call may follow one that is Undecided, since members may leave that at
//     different moments.
//   - In other calls, a member that waits while any member is dead ends with a loss. A member that
//     knows of a dead one doesn't begin such a call.
//
// A process that was taken for dead and goes on may read a cell that is being written again. It
// sees that by the turn.
//
// # Limits
//
// At most 64 members. All members make the same calls in the same order; a member whose note
// differs from another's ends with a mismatch. What the notes don't say, a driver can't compare.
package cells
