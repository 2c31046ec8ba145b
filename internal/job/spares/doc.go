// Package spares has dead replicas replaced where the launcher doesn't do it: by spare
// processes, which were started with the job and wait for a place in it.
//
// The lowest spare that lives is the spare leader at first. Every process of the job, and every spare,
// is connected to it (Client), after the handshake of the job's links, and speaks the part
// of package control that is about healing. The spare leader hears of deaths, chooses the place, the
// donor and the spare (package recovery), and tells all. The rest is between the processes, as
// under "banyan run".
//
//	spare                spare leader                       donor, others
//	                                               ←  healable; eviction notice, excluded
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
// own connection to the spare leader has ended and another process holds it for dead. It is told
// so, if it can be, and ends itself. All are told, since they might not know the replacement that died.
//
// # Spare leaders end, too
//
// Spares are spare leaders by turns, numbered from 0: the lowest, the next one, after the highest the lowest again.
// A spare leader gives signs of life. Whoever finds it dead, or silent for δ, goes on to the next turn, and says so to both, to the
// old one as the last word. A spare that hears of a later turn goes there itself, and
// sends on all who are with it. So one that was stopped isn't the spare leader when it wakes, but a spare.
//
// Two spares may reign for a while, if one was stopped or a network is cut. But a spare leader begins nothing unless every process
// that isn't dead is connected to it, and none is connected to two; and one that finds itself late waits until it has heard
// what was said meanwhile. A spare leader with whom somebody isn't who should be goes on to the next turn after 2δ, or 2.5 s: if there is another one, they meet
// at a spare of his. It begins nothing before all spares have come either, or had the time.
//
// The end of a spare leader's turn ends what it had begun: a replacement that isn't known to all yet exits, with code 0, the others
// hold it for dead, and the next spare leader takes another. A spare leader that is the last spare takes the place itself.
//
// # The end of the job
//
// Who leaves in order says so, and waits for the spare leader's answer. Who gets none before a spare leader counts as gone tells the next one, until it has
// tried each spare once. A spare leader that hears of the first who leaves tells all spares, and these tell later spare leaders. In the
// first δ of its turn, or as long as it is gathering, a spare leader doesn't end before all spares have come that may live: nobody else could tell them.
//
// # Invariants
//
//   - No life of a place is given to two processes: each turn has lives of its own, higher than those of
//     earlier ones.
//   - A spare that has no place ends with the job: with code 0 if somebody has left in order, and has said so to a spare that lives on.
//   - Nobody waits at the end for longer than it takes to find each spare silent.
//   - What a peer is to be sent is bounded; who doesn't take it in is dropped.
//
// # Limits
//
// Where some processes reach only one of two spares, and others only the other, turn follows turn, and nothing is healed.
// A spare that at the job's end is stopped, or on its way from one spare leader to another for longer than δ, may find nobody any more, and end with 1.
// A job waits for a process that is stopped on its way out, in order, as long as the spare leader is connected to it.
// A turn has 256 lives of a place; a spare leader that had to give away more might give one that another gave.
// A replacement that is stopped is given up after δ; one that spins, which is taken for one that computes, after the limits of
// package recovery.
// A spare's program must be the one of the place it takes.
package spares
