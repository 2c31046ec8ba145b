// Package group is membership for programs without MPI: who is in, agreed upon by
// all, one numbered view after the other.
//
// A process founds a group or joins one by the address of any member, and gets
// every [View] on one channel, until it leaves or is out. The protocol is that of
// MPI jobs ([banyan/internal/proto/membership], after Varma et al., 2006), over TCP.
//
// # What is guaranteed
//
//   - There is one view of each number: members that have a view of a number have the same. Views
//     come in the order of their numbers, without a hole, and each has oneself as a member.
//   - A member that left, by [Member.Leave], is told from one that died; of one that died,
//     whether somebody saw it end or it is merely silent.
//   - Whoever comes back under its name is a new [Identity], with a higher incarnation. There are never two
//     members with one name. The incarnation is the group's choice; it needs neither a clock nor a
//     file.
//   - Of two sides of a network that is cut at most one goes on: the one with more than half
//     of the last view, or half of it with its first member. The others end with
//     [ErrMinority], or [ErrExcluded] if they hear first that they are out. If all who are gone have
//     been seen to end, any number goes on.
//   - Views are data, not calls: nothing in the group waits for the program, and
//     the program can't block it, however slowly it reads.
//   - Nobody gets in, or is listened to, without the secret.
//
// # What isn't
//
// Members don't install a view at one instant, and a member may be out without knowing it yet,
// for as long as it can't be reached. So what must be done only once needs a step that only one
// can make (examples/workqueue has one), or the number of the view as a fencing token.
//
// A group carries no messages of the program: to deliver one in the same view everywhere takes more
// than views (docs/design/decisions/0015-group.md). A member that was taken for dead is out for
// good; its process may join again. docs/guide/group.md has the limits, and how it compares.
package group
