// Package groupnode drives the machines of membership and detection for processes that come and
// go: it is the runtime of package group. It has no launcher, no PMI and no ranks, only TCP
// between members that have a secret in common.
//
// One goroutine runs the two machines of a member ([Member.run]) and waits for all its connections
// (package poller). Others accept, dial and shake hands, each for one connection, and post what
// comes of it. Each direction between two members has a
// connection of its own. It is made when it is first used, or soon after a view if the next
// change may use it (ready.go): handshakes would take most of a change's time.
//
// # Names, numbers, nonces
//
// A member has a name, which it keeps over restarts, and a [Nonce], 128 random bits, which it
// doesn't keep. The machines know it by a number and an incarnation, which the most senior member
// chooses when it lets the member in: a free number, and the number of the next view. So the
// incarnations of a name only rise, without a clock or a file. A business card ([Card]) says
// which name and address belong to a number; cards travel beside the views, to members that lack
// them.
//
// No process is let in under the name of a live member: if that member answers, the joiner is
// refused. Otherwise the group must first find that the old incarnation is over, and exclude it.
//
// # Founding
//
// A process without seeds founds a group alone. One that has been in a group, by what its
// directory says (memory.go), is a candidate (candidacy.go, package founding) until it is let in
// or founds the group anew. All that a joiner asks, and what it is told, is in joiner.go.
//
// # Steps
//
// A change of view travels as a step from the view before, which all members but joiners have
// (steps.go).
//
// # Invariants
//
//   - A process that doesn't know the secret can't send a frame (handshake.go).
//   - A connection joins one member to one member, each in one incarnation. Frames of a member
//     that the view in force excludes aren't read; it is told that it is excluded.
//   - To a quorum, a death is certain only by the word of a member on the same host that had read
//     the dead member's stream to its end: see ending.
//   - To the others a member lives until its program has no lease in use (awaitLeases).
//   - What the membership asks for is carried out in order, and after this member's disk has what
//     it must remember. Heartbeats don't wait for the disk (settle).
//   - Every wait is bounded, except those of Leave and Join, which have a context.
//
// # Limits
//
// A group has at most 10,000 members; groups of 1,024 have been run. Connections are encrypted on
// demand. The death of a member is certain only to members on the same host (presence.go); where
// none is left, the others go by its silence.
// A link isn't made again when it has broken: one of the two members goes.
package groupnode
