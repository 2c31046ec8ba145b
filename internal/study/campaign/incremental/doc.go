// Package incremental says how a broadcast with dead processes goes, by working
// out only what they change: synchronised checked correction (Küttler et al.,
// section 3.3) over any tree, with processes dead from the start. Its outcomes
// are those of the engine, [logp.Simulator], to the message and to the step. It is
// for campaigns of very many such broadcasts: one takes well under a millisecond
// where the engine takes ten.
//
// It is the protocol written a second time, knowingly. The engine runs the
// machines that real processes run, and stays the judge: the tests compare the
// two on random cases, every send and every receive. What [New] refuses with
// [ErrNotCovered] is the engine's to run.
//
// # Why so little is left to work out
//
// Dissemination: a live process whose ancestors all live is coloured when it
// would be without deaths, since nobody in a tree waits for anybody else. Only
// the subtrees under the dead are cut off.
//
// Correction begins when fault-free dissemination would end, at a time T when nobody
// sends and nothing is under way. Those reached by then, the participants, send back
// to back until they are done for good, and nobody else sends. So time falls
// into slots of length o:
//
//   - a message sent in slot s begins at T + s·o and arrives at T + (s+1)·o + L;
//   - its receiver takes one message per slot, in order of arrival, those of
//     one slot in the order of their senders' numbers. The message received in slot
//     r ≥ s is handled at T + (r+2)·o + L, and bears on sends from slot
//     r + D, D = 2 + ⌈L/o⌉.
//
// Before slot D nobody has handled a correction, and all do the same: left 1,
// right 1, left 2, … . In each of these slots a process is sent at most one
// message, which is received in the same slot: no queue builds up. What is heard is
// known without playing it: at the end of a gap of g processes, the participant at
// its other end, 2g slots later (on the right; 2g+1 on the left).
//
// A participant with a participant on either side hears both, and so is done
// after slot D: D+1 messages, the paper's lemma 2. Slot D itself is as regular as
// those before if D is even, because it is a left turn for all. If D is odd,
// those with a gap on their right send right in it and the others left; that slot
// is played by all.
//
// After slot D only the participants at the ends of gaps still send. They are
// played slot by slot, each message with its receiver's queue.
//
// # Limits
//
// P is at least D + 1, so that nobody is held up by having sent P corrections before
// slot D is over; processes are dead from the start; g = o. Memory is some 50 bytes per
// process, kept between runs. Time goes with the processes cut off and with what
// the ends of gaps send; clearing 8 bytes per process is the only other cost, but
// for odd D, where slot D is played by all.
package incremental
