// Package membership agrees on who is in: numbered views that all members
// install in the same order, along a radix tree, after Varma et al., "Scalable,
// Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006), section 3.
//
// # A change
//
// The paper's root tells its children of a failure, they tell theirs, and
// acknowledgements come back up. Taken literally that ends in different views when
// the root dies on the way. So a change here is a decision on one number, made by the
// members of the view before:
//
//  1. The coordinator, the most senior member that isn't known to be gone,
//     proposes the next view down the tree of the living (Propose).
//  2. Whoever has an acknowledgement from each child, or has no children, sends
//     one up (Ack). When the coordinator has all, the tree is stable: the
//     paper's stabilisation time ends here.
//  3. The coordinator installs the view and tells the others, down the tree of
//     the new view (Commit).
//
// For n members that live that is 2(n-1) messages to agree and n-1 to commit. If
// somebody dies meanwhile the coordinator, told by the detector, proposes anew
// without it. Nothing here has a time-out of its own that could declare
// somebody dead.
//
// Whoever follows a dead coordinator first asks everyone what they have
// accepted (Collect, Report), under a ballot that lower ones give way to. It must
// propose again what was accepted under the highest, since that may be in force
// somewhere; only the first coordinator of a view needn't ask, for nobody can
// have proposed before it. This is Paxos with the members of the view as acceptors,
// in which all that live must answer, not only a majority.
//
// Every proposal carries the view before in full. So a member that missed a commit,
// because the one that should have passed it on had died, catches up by the
// next proposal; and there is one, since a death is a change.
//
// # Who may decide
//
// [View.Quorum]: any number of members if all the others are gone for certain
// (reaped, or left); else more than half of the view, or half of it with its most
// senior member. Where only silence tells of a death, two sides of a cut never
// both go on; and of two replicas one goes on when the other is killed.
//
// One might leave certain deaths out of the count in general. That is wrong:
// of five, 0, 3 and 4 agree to go on without the silent 1 and 2; then 3 and 4
// die for certain. Counted without them, 1 and 2 would be two of three, and go on
// with a second view of that number (TestLenientQuorum).
//
// A coordinator without a quorum says so, asks the others for certainty, and
// after Config.Patience stops its side.
//
// # Coming and going
//
// Somebody who joins asks anyone, is redirected to the coordinator, and gets the
// view in which it is a member, as the youngest: seniority, not the number of a
// process, says who coordinates. It is known by process and incarnation, so that
// it is admitted once however often it asks. A higher incarnation means that the
// earlier life is over. Somebody who leaves asks too, takes part until a view
// without it is agreed, and is released.
//
// # Invariants
//
//   - Views are installed in the order of their numbers, without a hole, and
//     only with oneself as a member.
//   - Two processes that live never have different views of one number.
//   - A promise isn't broken: under a lower ballot nothing is accepted.
//   - Nobody listens to a life that its view excludes, but for an eviction notice sent
//     to it.
//
// # What is believed
//
// The transport says truly who has sent a message. What comes from somebody who isn't a member
// changes nothing, but that he may ask to be let in. Of a member is believed what its place
// entitles it to: orders if it is the parent in the tree of a coordinator with a
// quorum, each member's own vote once, a decision on what this process has accepted itself, a
// view only if it follows by its own changes from the one in force. All else is
// refused without a trace.
//
// A member that lies where it is believed can split the others: by claiming to coordinate, by
// twisting what it hands down, by its vote, by a false word of a death. It can't have one
// of them install views out of order or without a number between
// (TestForged, TestLiar). Somebody who isn't let in yet has nothing to compare with:
// it takes its first view from any member of it.
//
// # Limits
//
// A View takes 12 bytes for each member, 8 for each process that was a member
// once, and 12 or 8 for each that has just gone or joined (TestMemory). A proposal carries two
// views, so its size is linear in the members. docs/results/membership-bench.md weighs views of
// constant size.
//
// While a network is cut, nobody should be let in on one side whose members may
// all be reported dead to the other: those who joined would be unknown there, and
// a few survivors would go on without them. Where the certain word comes from a
// launcher that also starts those who join, this doesn't happen.
package membership
