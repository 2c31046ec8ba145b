// Package agreement lets the members of a communicator agree although some die meanwhile: all that
// live get the same bitwise AND of their contributions, and the same sets of those that are dead.
// It is what MPI's agree and shrink are made of (the ULFM interface). The idea is that of Herault
// et al., "Practical Scalable Consensus for Pseudo-Synchronous Distributed Systems" (SC '15): an
// agreement returns early, as soon as the decision comes down a tree. The protocol here is our
// own.
//
// # An agreement
//
// A [Machine] is one member's part in all agreements of one communicator, which are numbered 1, 2,
// 3… in the order in which all members enter them. Several may be under way at once.
//
// The tree is that of all members, with its dead left out: a member whose parent is dead belongs
// to its nearest live ancestor. The root is the lowest live member, and members with no live
// ancestor belong to it. A member that has contributed, and has a report of each child, reports to
// its parent: all contributions below together, and those that are missing because they are dead.
// The root decides when it has them all. The decision goes down to those that have reported, and
// each member returns as soon as it has it: 2(n-1) messages, and twice the tree's depth. Of two
// members each sends its contribution to the other, and decides by itself.
//
// # Deaths
//
// When a member that isn't the root dies, its children report to the next ancestor. A report that
// the dead one had sent counts if it was passed on before the news of the death came; otherwise it
// is dropped, and the children's new reports stand for it. So no contribution counts twice.
//
// When the root dies, all begin anew under the next root: every live member reports again whatever
// it keeps, and a member that has accepted a decision reports that decision. A report is a promise
// to accept no decision of a lower root any more. The new root decides when every live member has
// reported to it, and it must decide what was accepted under the highest root, if anything was.
// This is Paxos with the root's number as the ballot and all live members as the quorum, in which
// accepting and returning are one step.
//
// # Members that leave
//
// A member whose program comes to its end while others go on has left ([Machine.Leave]). It isn't
// dead: its machine enters what others enter, and gives nothing. The outcome names it among Left.
// Others prompt it when they have waited for long ([Machine.Prompt]).
//
// A communicator may be open at some members only: one died while it was made, which was an error
// at others. A member whose program comes to its end without it says so when it is asked
// ([KindThrough]). In the tree it counts as dead, and in the outcome as one that has left.
//
// # What is promised
//
//   - All live members that return from an agreement return the same value, and every live member
//     returns if all live ones enter it.
//   - All whose contributions are missing from the value are dead or have left, and the value says
//     so.
//   - A member that was taken for dead by mistake may return something else until it is killed, or
//     [Excluded]. The driver sees to it that such a member is killed, and that a side of a cut
//     takes the other for dead only when it is the side to go on (membership's views).
//
// Early return promises nothing of those that returned and then died: if the root and all to which
// it has sent the decision die, the others may decide otherwise. Where that matters, a driver
// enters a second agreement when it has the first decision, and returns that when the second is
// decided. Then all live members have the first decision before any returns it (the world "strict"
// of TestExhaustive).
//
// # What is kept, and for how long
//
// A decision is kept until every live member has it, because a new root may ask for it. Reports
// say up to which number all below have decisions, and decisions say what is stable at all; so
// members that agree again and again keep two decisions each. After the last agreement,
// [Machine.Close] begins a barrier: when all live members have closed, the machines say [Forget],
// and the driver drops them. That takes another 2(n-1) small messages, for which nobody waits, and
// as many questions at most after a death.
//
// A message may come for a communicator that isn't open. [Message.Opens] says whether it will be
// opened: then the driver keeps the message. Otherwise it has been forgotten here, or was never
// made because the sender was ahead: the driver answers [KindAbsent], and the sender closes
// without this member.
//
// # What the driver does
//
//   - It makes the machine before the first contribution or message, at every member with the same
//     tree, and tells it all deaths of members that the process knows of ([Machine.Dead]), then
//     and later. A death is final: certain evidence, or a silence that a view has confirmed.
//   - It hands over the messages of each member in their order, and none of a member after its
//     death.
//   - It delivers [Decide] to the program: PROC_FAILED if the value's Unacknowledged isn't empty,
//     and all of Failed and Left count as known failures from then on. Shrink takes the members
//     that are in neither, and derives the context from the parent's, the number and that set: no
//     more messages.
//   - It keeps the machine until [Forget], also after the program has freed the communicator.
//
// # Invariants
//
//   - Decisions come in the order of their numbers, each once.
//   - A member's root never goes down, and it accepts decisions of its present root only.
//   - Every number up to stable is decided at every live member; what is kept is above it.
//   - Missing is among Failed and Left.
//
// # Limits
//
// All members enter the same agreements in the same order. A member keeps 4 bytes for each member,
// and looks at all members when one dies. A member that is replaced doesn't come back: a
// communicator with the replacement is another one. No more than MaxInFlight agreements are under
// way at once. Members are believed: a report that lies about others is not found out.
package agreement
