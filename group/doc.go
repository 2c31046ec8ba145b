// Package group is membership for programs without MPI: all members agree on who is in, one
// numbered view after the other.
//
//	m, err := group.Join(ctx, group.Config{
//		Name:   "worker-3",
//		Secret: secret,
//		Listen: "10.0.0.3:7946",
//		Seeds:  []string{"10.0.0.1:7946", "10.0.0.2:7946"},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer m.Close()
//	for v := range m.Views() {
//		fmt.Println("view", v.Number, "has", v.Members, "without", v.Left, v.Died)
//	}
//	log.Print("not a member any more: ", m.Err())
//
// A process founds a group, or joins one by the address of any member. It gets every [View] on
// one channel, until it leaves or is excluded. The protocol is that of MPI jobs
// ([banyan/internal/proto/membership], after Varma et al., 2006), over TCP.
//
// # What is guaranteed
//
//   - There is one view of each number: all members that have a view of a number have the same
//     one. A member gets views in the order of their numbers, without a hole, and is in each of
//     them.
//   - Views tell members that left, by [Member.Leave], from members that died. Of a member that
//     died they say whether another member saw it end or it is merely silent.
//   - A process that comes back under its name is a new [Identity], with a higher incarnation.
//     Two members never have one name. The group chooses the incarnation; it needs neither a
//     clock nor a file.
//   - If the network is cut, at most one of the two sides goes on: the one with more than half of
//     the last view, or half of it with its first member. The others end with [ErrMinority], or
//     with [ErrExcluded] if they hear first that they are out. If all members that are gone were
//     seen to end, any number goes on.
//   - Views have what members say of themselves ([Config.Metadata]): the same for all members, and
//     each one's changes in order.
//   - [View.Token] rises with each view, and from one founding of the group to the next, as far as
//     [Config.Epochs] says: it is a fencing token.
//   - While a member has a [Lease], no process has a later view than the lease's.
//   - Views are data, not calls: the group never waits for the program, however slowly it reads.
//   - A process that doesn't know the secret isn't let in, and its frames aren't read.
//
// # What isn't
//
// Members don't install a view at one instant, and a member may be out without knowing it, for as
// long as it can't be reached. So work that must be done only once needs a step that only one
// process can make (examples/workqueue has one), or the token of the view as a fencing token.
// Where the resource can't compare tokens, a [Lease] says until when nobody else acts by a later
// view; it can't keep out a process that is stopped between looking at its lease and acting.
//
// After a total outage the group is founded anew: a new [Founding], in which numbers of views and
// incarnations begin at 1. Only tokens can be compared across foundings.
//
// A group carries no messages of the program: it takes more than views to deliver a message in
// the same view everywhere (docs/design/decisions/0015-group.md). A member that was taken for
// dead is out for good; its process may join again. docs/guide/group.md has the limits, and a
// comparison.
package group
