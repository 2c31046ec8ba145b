// Package groupnode drives the machines of membership and detection for processes
// that come and go: package group's runtime. It has no launcher, no PMI and no ranks, only
// TCP between members that have a secret in common.
//
// One goroutine runs the two machines of a member ([Member.run]). Others accept,
// dial and read, each for one connection, and post what happens to it. Each direction
// between two members has a connection of its own, made when first used, or soon after a
// view if the next change may use it (ready.go): handshakes would take most of its time.
//
// # Names, numbers, lives
//
// A member has a name, which it keeps over restarts, and a [Life], 128 random bits,
// which it doesn't. The machines know it by a number and an incarnation, which the most
// senior member chooses when it lets it in: a free number, and that of the next view. So
// incarnations of a name only rise, without a clock or a file. [Card]s say which
// number is who, and where; they travel beside the views, to whom lacks them.
//
// Nobody is let in under the name of a member. If that member answers, the replacement is
// refused. Else the group must first find that the old life is over, and exclude it.
//
// # Invariants
//
//   - Nobody who doesn't know the secret gets to send a frame (handshake.go).
//   - A connection is from one life to one life. Frames of a life that the view in
//     force excludes aren't read; it is told that it is excluded.
//   - To a quorum, a death is certain only by the word of who heard the dead one to
//     its end: see fate.
//   - Nothing waits without a bound but Leave and Join, which have a context.
//
// # Limits
//
// A group has at most 1,024 members. Connections aren't encrypted. Linux's and other
// kernels' refusal of a connection is taken for the end of who listened there: don't
// put members behind a firewall that refuses in the name of others.
package groupnode
