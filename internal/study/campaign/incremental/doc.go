// Package incremental computes the outcome of a broadcast with dead processes by working out only
// what these change: synchronised checked correction (Küttler et al., section 3.3) over any tree,
// with processes dead from the start. Its outcomes are those of the engine, [logp.Simulator], to
// the message and to the step, and it tells a [logp.Listener] the same. It is for campaigns of very
// many such broadcasts, and for single large ones: one of 65,536 processes takes well under a
// millisecond where the engine takes ten.
//
// This writes the protocol a second time, on purpose. The engine runs the machines that real
// processes run, and stays the reference: the tests compare the two on random cases, every send
// and every receive. The engine must run the cases that [New] refuses with [ErrNotCovered].
//
// # Why so little is left to work out
//
// Dissemination: a live process whose ancestors all live is coloured when it would be without
// deaths, since no process in a tree waits for another branch. Only the subtrees under the dead
// are cut off.
//
// Correction begins when fault-free dissemination would end, at a time T when no process sends
// and nothing is under way. The processes reached by then, the participants, send back to back
// until they are done for good, and no others send. So time falls into slots of length o:
//
//   - a message sent in slot s begins at T + s·o and arrives at T + (s+1)·o + L;
//   - its receiver takes one message per slot, in order of arrival, those of
//     one slot in the order of their senders' numbers. The message received in slot
//     r ≥ s is handled at T + (r+2)·o + L, and bears on sends from slot
//     r + D, D = 2 + ⌈L/o⌉.
//
// Before slot D no process has handled a correction, and all do the same: left 1, right 1, left
// 2, … . In each of these slots a process is sent at most one message, which is received in the
// same slot: no queue builds up. It is known without playing these slots what is heard: at the
// end of a gap of g processes, the participant at its other end is heard 2g slots later (on the
// right; 2g+1 on the left).
//
// A participant with a participant on either side hears both, and so is done after slot D: D+1
// messages, the paper's lemma 2. Slot D itself is as regular as those before if D is even,
// because all send left in it. If D is odd, the participants with a gap on their right send right
// in it and the others left; that slot is played for all.
//
// After slot D only the participants at the ends of gaps still send. They are
// played slot by slot, each message with its receiver's queue.
//
// # Limits
//
// P is at least D + 1, so that no process has sent P corrections before slot D is over; processes
// are dead from the start; g = o. Memory is some 40 bytes per process, kept between runs, or 20 if
// nobody is ever dead. Time grows with the processes cut off and with the messages that the ends of
// gaps send; clearing 8 bytes per process is the only other cost, except for odd D, where slot D is
// played for all, and for a listener, which is told of each process.
package incremental
