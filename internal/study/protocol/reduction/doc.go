// Package reduction is the corrected tree of Küttler et al. (PPoPP '19) turned round:
// contributions of all processes are combined at a root, although some processes are dead
// and there is no failure detector. The paper announces it in one sentence (section 1:
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
// First every process sends a copy of its contribution to its neighbours on the ring, some on
// each side. Then the tree of a broadcast is climbed: a process combines what
// its children send with its own contribution and sends one part to its parent.
//
// A dead child is silent. How long to wait for one is known in advance if there are bounds
// on how long things take, as for synchronised correction: it is the broadcast played
// backwards. If dissemination reaches p at the time t(p) and all by T, then p sends
// its part at C + T - t(p) at the latest, C being the time that copies take; its
// children's parts have come by then, the last one just in time. So a death costs no time in this
// climb: a process that misses no child sends at once, and one that does sends on time.
//
// A process that gives up on a child adds it to the list of silent ones that its part carries
// beside the value. So a part says exactly what it holds: the contributions of the
// sender's subtree, without the subtrees of those on the list. The exactness below follows from
// this alone.
//
// # Mending
//
// All processes below a silent one are cut off, and most of them are alive. Their contributions are
// where they left copies: with ring neighbours, which are in other subtrees because the tree is
// interleaved.
//
// If the operation is idempotent (maximum, and, or), every process just combines the copies it
// holds with its own contribution before it sends its part. One climb is all.
//
// Otherwise (a sum) a contribution must come from one process only. When the root's list is
// complete, it sends the list down the tree to all that were heard. From the list each of them
// computes which processes are cut off (a position with an ancestor, or itself, on the list), and
// so which process takes each copy: the nearest neighbour that isn't cut off takes a cut-off
// process's copy, the left one of two ([Config.Taker]). Then the tree is climbed a second time with
// what has been taken, and again waits for silent ones until a time known in advance. A root whose
// list is empty, or has only leaves, has all that it can get and sends nothing down: then the
// reduction costs as much as without failures.
//
// # What it guarantees
//
// Always, whatever is late, lost or dead, and whenever it died, but for the root:
//
//   - No contribution is counted twice, even in a sum. Parts hold disjoint subtrees. A copy is
//     taken only of a process on the root's list or below one, which is in no part that the root
//     has. One process alone takes it, because all that decide have the same list and the rest is
//     arithmetic. And it goes up one path. This needs no clock: a process that is merely late is on
//     a list, and is treated as if it were dead.
//   - The root knows what it has: all contributions of processes that aren't cut off, and of the
//     others as many as the second climb has counted. It knows the names of those with no taker. (A
//     process that is cut off, has a taker, and isn't counted, left no copy: as a rule it was
//     dead.)
//   - The root ends, at [Config.End] at the latest, and sends nothing thereafter.
//
// If the bounds hold, and the dead are dead from the start: the contribution of each live
// process is in the result if it isn't cut off, or one of the neighbours that it sent
// a copy to isn't. As for opportunistic correction, this is so as long as the tree with its
// dead leaves no gap of more than twice the distance.
//
// # What it costs
//
// With n neighbours, without failures (or where only leaves are dead), it costs n·P + P - 1
// messages, fewer because of the dead, and the time n·o + T. That is n·o more than a tree without
// correction: copies and parts never wait for each other. An idempotent operation must have the
// copies before it begins to climb: (n+1)·o + L + T. With failures a sum goes down and up once
// more, in at most C + 3T, with two messages more for each process that isn't cut off. A message
// carries its value, and four bytes for each silent process in its subtree, or for all of them on
// the way down.
//
// # What it doesn't guarantee
//
// If the bounds don't hold (a message that takes longer than Hop, a process that stalls),
// what is late isn't counted, as if its sender had died; the root knows as above. The same goes for
// deaths during the reduction. A process that dies with its children's parts cuts them off, which
// the first climb mends and the second doesn't. If the taker of a copy dies, the copy
// is lost though others have it. Only the root learns how the reduction ended: a broadcast can
// tell the others. A process must keep its copies until [Config.End].
//
// # Limits
//
// A process has up to 64 children and 64 neighbours. Times count from a start that all
// processes agree on.
package reduction
