// Package reduction is the corrected tree of Küttler et al. (PPoPP '19) turned round:
// contributions of all processes are combined at a root, although some processes are dead
// and nobody asks a failure detector. The paper announces it in one sentence (section 1:
// "applying correction before dissemination allows to create a reduction tree"); the
// design is ours.
//
// Processes are positions 0…P-1 with the root at 0. What all know in advance is one
// [Config], what one of them knows is a [State] without pointers. The values, and the
// lists that go with them, are the driver's matter: the machine says what to do with
// what a message carries (an [Effect]).
//
//	c.Start(&s, self)
//	effect := c.Receive(&s, from, kind)
//	to, kind, ok := c.SendReady(&s, now)
//	c.Done(&s)                            // at the root: the result is final
//
// # Correction, then the tree
//
// First everyone sends a copy of its contribution to its neighbours on the ring, some on
// each side. Then the tree of a broadcast is climbed: a process combines what
// its children send with its own contribution and sends one part to its parent.
//
// A dead child is silent. How long to wait for one is known in advance if there are bounds
// on how long things take, as for synchronised correction: it is the broadcast played
// backwards. If dissemination reaches p at the time t(p) and everyone by T, then p sends
// its part at C + T - t(p) at the latest, C being the time that copies take; its
// children's have come by then, the last one just so. So a death costs no time in this
// climb: who isn't missing a child sends at once, who is sends on time.
//
// Whoever gives up on a child adds it to the list of silent ones that its part carries
// beside the value. So a part says exactly what it holds: the contributions of the
// sender's subtree, but for the subtrees of those on the list. That is the whole
// of the exactness below.
//
// # Mending
//
// Below a silent process all are cut off, most of them alive. Their contributions are
// where they left copies: with ring neighbours, of which interleaving has made sure that they
// are in other subtrees.
//
// If the operation is idempotent (maximum, and, or), everyone just combines the copies it
// holds with its own contribution before it sends its part. One climb is all.
//
// Otherwise (a sum) a contribution must come from one place. The root,
// once its list is complete, sends it down the tree to all that were heard; with the list each of them
// can compute who is cut off (a position with an ancestor, or itself, on the list), and so
// for each copy whose business it is: the nearest neighbour that isn't cut off takes a
// cut-off process's copy, the left one of two ([Config.Taker]). Then the tree is climbed a second time with
// what has been taken, waiting again for silent ones until a time known in advance. A root
// whose list is empty, or has only leaves, has all it can get and sends nothing down:
// then the reduction costs as much as without failures.
//
// # What it guarantees
//
// Always, whatever is late, lost or dead, and whenever it died, but for the root:
//
//   - No contribution is counted twice, also with a sum. Parts hold disjoint subtrees. A copy is taken only of
//     who is on the root's list or below, thus in no part that the root has; by one process only,
//     since all who decide have the same list and the rest is arithmetic; and it goes up one path.
//     No clock enters: who is merely late is on a list, and treated as if it were dead.
//   - The root knows what it has: all that aren't cut off; and of the others as many as
//     the second climb has counted. Those with no taker it knows to be missing by name. (Who is
//     cut off, has a taker, and isn't counted, left no copy: as a rule it was dead.)
//   - The root ends, at [Config.End] at the latest, and sends nothing thereafter.
//
// If the bounds hold, and the dead are dead from the start: the contribution of each live
// process is in the result if it isn't cut off, or one of the neighbours to whom it sent
// a copy isn't. As for opportunistic correction, this is so as long as the tree with its
// dead leaves no gap of more than twice the distance.
//
// # What it costs
//
// With n neighbours, without failures (or where only leaves are dead): n·P + P - 1 messages, fewer for the dead,
// and the time n·o + T, which is n·o more than a tree without correction: copies and parts
// never wait for each other. An idempotent operation must have the
// copies before it begins to climb: (n+1)·o + L + T. With failures a sum takes another way down and up, at most C + 3T, and two
// messages more for each process that isn't cut off. A message carries its value,
// and four bytes for each silent process in its subtree, or everywhere on the way down.
//
// # What it doesn't
//
// If the bounds don't hold (a message that takes longer than Hop, a process that stalls),
// what is late isn't counted, as if its sender had died; the root knows as above. The same goes for deaths
// during the reduction: who dies with its children's parts cuts them off, which the
// first climb mends and the second doesn't; a copy that its taker's death takes along
// is lost though others have it. Nobody but the root learns how it ended: a broadcast can
// tell them. A process must keep its copies until [Config.End].
//
// # Limits
//
// A process has up to 64 children and 64 neighbours. Times count from a start that all
// processes agree on.
package reduction
