// Package membership agrees on the members of a group: numbered views that all members install
// in the same order, along a radix tree, after Varma et al., "Scalable, Fault-Tolerant
// Membership for MPI Tasks on HPC Systems" (2006), section 3.
//
// # A change
//
// The paper's root tells its children of a failure, they tell theirs, and
// acknowledgements come back up. Taken literally that ends in different views if
// the root dies meanwhile. So here the members of a view decide on the view of the next number:
//
//  1. The coordinator, the most senior member that isn't known to be gone,
//     proposes the next view down the tree of the live members (Propose).
//  2. A member that has an acknowledgement from each child, or has no children, sends
//     one up (Ack). When the coordinator has all, the tree is stable: the
//     paper's stabilisation time ends here.
//  3. The coordinator installs the view and tells the others, down the tree of
//     the new view (Commit).
//
// n live members need 2(n-1) messages to agree and n-1 to commit. If a member
// dies meanwhile the detector tells the coordinator, which proposes anew
// without it. No time-out of this package declares a process dead.
//
// A coordinator that follows a dead one first asks all members what they have
// accepted (Collect, Report), under a ballot that lower ones give way to. It must
// propose again what was accepted under the highest, since that may be in force
// somewhere; only the first coordinator of a view needn't ask, because no other can
// have proposed before it. This is Paxos with the members of the view as acceptors,
// in which all live members must answer, not only a majority.
//
// Every proposal carries the previous view. So a member that missed a commit,
// because the member that should have passed it on had died, catches up by the
// next proposal. There is one, since that death is a change.
//
// # Who may decide
//
// [View.Quorum]: any number of members if all the others are gone for certain
// (reaped, or left); otherwise more than half of the view, or half of it with its most
// senior member. Where only silence tells of a death, two sides of a cut never
// both go on. Of two members one goes on when the other is killed.
//
// It would be wrong to leave certain deaths out of the count in general:
// of five, 0, 3 and 4 agree to go on without the silent 1 and 2; then 3 and 4
// die for certain. Counted without them, 1 and 2 would be two of three, and go on
// with a second view of that number (TestLenientQuorum).
//
// A coordinator without a quorum says so, asks the others for certainty, and
// after Config.Patience stops its side.
//
// # Coming and going
//
// A joiner asks any member, is redirected to the coordinator, and gets the
// view in which it is a member, as the youngest: seniority, not the number of a
// process, decides which member coordinates. A joiner is known by process and incarnation, so
// it is admitted once however often it asks. A higher incarnation means that the
// earlier one is over. Members that are no majority, and to whom a joiner was announced, ask it
// before they go on: the dead may have let it in, without them (announced.go).
// A member that wants to leave asks too, takes part until a view without it is agreed, and is
// released.
//
// # Metadata
//
// A view has what each member says of itself, a text with a version (metadata.go). A member asks
// the coordinator for a change, as it asks to leave, and asks again when the coordinator is gone.
// The change is part of the next view, and so of what a coordinator that takes over adopts.
//
// # Leases
//
// A process that has to know that its view is still the last one asks the members for a lease
// (lease.go). As long as that lasts, no process has a later view. Processes that never ask pay
// nothing.
//
// # Invariants
//
//   - Views are installed in the order of their numbers, without a hole, and
//     only with oneself as a member.
//   - Two live processes never have different views of one number.
//   - A promise isn't broken: under a lower ballot nothing is accepted.
//   - At any moment all leases in use are on one view (TestLeases).
//   - A process listens to no incarnation that its view excludes; it answers with an eviction
//     notice.
//
// # What is believed
//
// The transport names the sender of a message truly. A message from a process that isn't a member
// changes nothing, except that the sender may ask to be let in. A member is believed what its
// position entitles it to: an order, if it is the parent in the tree of a coordinator with a
// quorum; its own vote, once; a decision, if it is on what this process has accepted itself; a
// view, if it follows by its own changes from the one in force. All else is
// refused without a trace.
//
// A member that lies where it is believed can split the others: it can claim to coordinate,
// change what it hands down, vote falsely, or report a death that didn't happen. It can't make one
// of them install views out of order or skip a number
// (TestForged, TestLiar). A joiner has nothing to compare with:
// it takes its first view from any member of that view.
//
// # Limits
//
// Each renewal of a lease takes 2(n-1) messages. A lease is as good as the clock of the process
// that asks: a virtual machine whose clocks all stand still while it is moved wakes with a lease
// that has ended for the others.
//
// A View takes 12 bytes for each member, 8 for each process that was a member
// once, 12 or 8 for each that has just gone or joined (TestMemory), and the metadata. A proposal
// has two views. On the wire they can be steps, which don't grow with the members (package views).
// docs/results/membership-bench.md weighs views of constant size.
//
// While a network is cut, no joiner should be let in on a side whose members may
// all be reported dead to the other side, unless the other side was told of it before those deaths
// (Announce): a few survivors would go on without it. A launcher that starts joiners and tells of
// deaths does so in this order. A process that sees the end of others on its host by itself may see
// it before it reads of a joiner. For a split it must have missed those others' views, too.
package membership
