// Package warden has dead replicas replaced where the launcher doesn't do it: by spare
// processes, which were started with the job and wait for a place in it.
//
// The lowest spare that lives is the warden. Every process of the job, and every spare,
// is connected to it (Client), after the handshake of the job's links, and speaks the part
// of package control that is about healing. The warden hears of deaths, chooses the place, the
// donor and the spare (package vacancy), and tells all. The rest is between the processes, as
// under "banyan run".
//
//	spare                warden                       donor, others
//	                                               ←  healable; obituary, excluded
//	       ←  admit…, death…, take
//	arrived            →  admit                    →  all
//	                      donate                   →  donor
//	                                               ←  mark: its program is paused
//	committed          →  the place has a process again
//	healed             →  healed                   →  all
//
// # Who is dead
//
// Nobody sees here that a process ends, but other processes. A process counts as dead
// when a view of the job excludes it (then those who found it silent have a quorum), or when its
// own connection to the warden has ended and another process holds it for dead. It is told
// so, if it can be, and ends itself. All are told, since they might not know the newcomer that died.
//
// # Wardens end, too
//
// Whoever loses the warden turns to the next spare, tells it all it knows, and never turns
// back. A spare reigns once it has itself turned to all spares below. Two spares may reign for a
// while, if a network is cut. But a warden begins nothing unless every process that isn't dead
// is connected to it, and none is connected to two.
//
// A warden's end ends what it had begun: a newcomer that isn't known to all yet exits, and
// the others hold it for dead. A warden that is the last spare takes the place itself.
//
// # Invariants
//
//   - No life of a place is given to two processes: a new warden has heard of all that
//     were admitted before it begins.
//   - A spare that has no place ends with the job: with code 0 if somebody has left in order.
//   - What a peer is to be sent is bounded; who doesn't take it in is dropped.
//
// # Limits
//
// A warden that is stopped isn't replaced before it ends: nothing is healed meanwhile. A
// newcomer that is stopped is given up after the limits of package vacancy.
// A spare's program must be the one of the place it takes.
package warden
