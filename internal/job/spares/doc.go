// Package spares replaces dead replicas in a job that another launcher than "banyan run" started.
// The replacements are spare processes, which were started together with the job and wait until
// they are given a replica slot.
//
// One spare is the spare leader. Every process of the job and every other spare connects to it
// (Client), with the handshake of the job's other connections, and speaks the part of package
// control that is about recovery. The spare leader hears of deaths. It chooses the replica slot,
// the donor and the spare (package recovery), and tells all. The rest happens between the
// processes, as under "banyan run".
//
//	spare                spare leader                       donor, others
//	                                               ←  healable; eviction notice, excluded
//	       ←  admit…, death…, take
//	arrived            →  admit                    →  all
//	                      donate                   →  donor
//	                                               ←  mark: its program is paused
//	committed          →  the slot is filled again
//	healed             →  healed                   →  all
//
// # Which processes are dead
//
// No spare is told by the kernel that a process has ended. A process counts as dead in two cases:
// a view of the job excludes it, which takes a quorum of processes that found it silent; or its
// own connection to the spare leader has ended and another process holds it for dead. The spare
// leader tells it so if it still can, and the process ends itself. The spare leader tells all
// others too, since they may not know the replacement that died.
//
// # Terms
//
// The spares lead in terms, numbered from 0. The lowest spare leads term 0, the next higher one
// term 1, and so on; after the highest comes the lowest again. The spare leader gives signs of
// life. A process that finds it dead, or silent for δ, goes on to the next term. It says so to
// the new spare leader, and to the old one as its last word. A spare that hears of a later term
// goes on to it and sends all processes on that are connected to it. So a spare leader that was
// stopped is an ordinary spare when it wakes.
//
// Two spares may lead at the same time for a while, if one was stopped or the network is cut. But
// a spare leader begins nothing unless every process that isn't dead is connected to it, and no
// process is connected to two. A spare leader that finds itself late first waits until it has
// heard what was said meanwhile. It also begins nothing before all spares have come, or have had
// time to. A spare leader that misses a process for 2δ, or 2.5 s, goes on to the next term with
// all that are connected to it: if there is another spare leader, the two parties meet at one of
// its spares.
//
// When a term ends, what its spare leader had begun ends, too. A replacement that isn't known to
// all exits with code 0, the others hold it for dead, and the next spare leader takes another
// spare. A spare leader that is the last spare fills a slot itself.
//
// # The end of the job
//
// A process that leaves in order says so and waits for the spare leader's answer. If none comes
// before the spare leader counts as gone, the process tells the next one, until it has tried each
// spare once. A spare leader that hears of the first such process tells all spares, and these
// tell later spare leaders. In the first δ of its term, and as long as it awaits spares, a spare
// leader doesn't end before all spares that may be alive have connected: no other process could
// tell them.
//
// # Invariants
//
//   - A spare leader is in one phase, and goes only from one phase to the next as phase.go lists.
//   - No incarnation of a slot is given to two processes: each term has incarnations of its own,
//     higher than those of earlier terms.
//   - A spare without a slot ends with the job. It ends with code 0 if a process has left in
//     order and has said so to a spare that is still alive.
//   - No process waits at the end for longer than it takes to find each spare silent.
//   - The queue of messages to a peer is bounded. A peer that doesn't read its messages is
//     dropped.
//
// # Limits
//
//   - If some processes reach only one of two spares and others only the other, term follows term
//     and nothing is replaced.
//   - A spare that is stopped at the job's end, or is on its way between two spare leaders for
//     longer than δ, may find no process any more and end with code 1.
//   - A job waits for a process that is stopped while it leaves in order, as long as it is
//     connected to the spare leader.
//   - A term has 256 incarnations of a slot. A spare leader that had to give more might give one
//     that another spare leader gave.
//   - A replacement that has committed and isn't known to all is sent away, too, if the term ends
//     or it is silent for δ. If all other replicas of its rank have died since it committed, the
//     rank is lost. No spare leader is there to hear whether it has committed, and the others can't
//     tell which of them have heard so.
//   - A replacement that is stopped is given up after δ. One that spins seems to compute, and is
//     given up after the limits of package recovery.
//   - A spare must run the program of the rank whose slot it fills.
package spares
