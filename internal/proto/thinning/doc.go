// Package thinning lets a job with replicas go on when it has lost a rank. It goes on with one
// replica of each other rank, so a loss needn't show at the same place at several (decision 129).
//
// # The protocol
//
// The Coordinator is the launcher's. When a rank has lost its last replica it asks each process
// how many messages of lost ranks that one has (Ask). Of each rank the one with the most stays.
// The others are ended (Dismiss), and their deaths are deaths like all: replicas that stay take
// their place. When all are dead, each that stays is told (Thin).
//
// The rest is a Member's. It tells all others how many messages of each of them it has (Tell).
// Those may be more than the other one has sent: a sibling that was ahead had sent them. The
// other one owes them then. Its program has to come to these sends on the way that its sibling's
// took, and that way knew of no loss. So a member is Settled when it has heard all others and
// owes nothing.
//
// When all have settled the losses show (Show), at each at whatever place it is.
//
// A member may owe what it can't send, or what is claimed of it: its way goes through a message of
// a lost rank that only dead siblings had. Then its driver ends it, and its rank is lost, too.
//
// # Claims
//
// A member that owes may wait for one that has settled: a sibling of that one was ahead, and both
// that sibling and the one to which it had sent are dead. So a member that owes says for which
// messages it has waited for long (Coordinator.Waits). Who is to send them is told (Owe), and as
// long as it is waited for it goes the way that its sibling has gone, as if it owed. What it waits
// for then is claimed in turn. The losses show when nobody owes and all that were told something
// have answered that nothing is claimed of them any more (Settled, again).
//
// # Results
//
// Before the losses show agreements are ordinary collectives, which may have ended at some
// members and not at others. Members say with Settled which have ended, and complete none from
// then on, unless something is claimed of them (Member.Frozen). Show has the union: who hasn't
// the result of one of those takes it from there, also if it begins that one only now, and
// all others are agreed on anew.
//
// # What is relied on
//
//   - Replicas of a rank send the same messages, as package replica has it. Invariant 2 needs that
//     they send them in one order, as programs of one thread do.
//   - A process hears of deaths before what the coordinator says after them, and receives nothing
//     of a process whose death it has heard of.
//   - Frames of one ordered pair of processes arrive in order, and all of them unless one of
//     the two dies.
//   - A death that the coordinator is told of is certain.
//   - No replacement is on its way when the coordinator begins, and none comes later.
//
// # Invariants
//
//  1. Where a loss shows, each message that a process which stays has received of another such
//     one's rank is the message that the latter has sent, or will send.
//  2. If only the replicas of one rank die, and those that are dismissed, no member owes what it
//     can't send.
//  3. An agreement that has ended at a member that lives ends with the same result at all.
//
// # What is explored
//
// Every state of small jobs, with deaths at each point, also after the losses have shown; and
// known mistakes, which must be caught. That a member owes in vain is an event like a death
// there.
//
// # Limits
//
// The job has one replica of each rank from then on, and none is replaced.
package thinning
