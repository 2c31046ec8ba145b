// Package order lets the replicas of a rank agree on what timing decides: one of them, the
// leader, decides, and its siblings follow the log of its decisions. It is for programs that
// aren't send-deterministic (design, section 4.7; decision 59). The rules of output commit are
// those of message logging (Elnozahy, Alvisi, Wang, Johnson: A survey of rollback-recovery
// protocols, 2002).
//
// # The protocol
//
// The first replica leads. A decision gets the next number, and the leader tells its siblings
// (Decided). Each of them tells all others how much it knows (Known). What a process sends waits
// until all that the process knows is Stable, that is, known to each sibling that may have to go
// on from here, or Kept for it.
//
// A leader can keep decisions for a sibling in memory that outlives the leader (decision 123). The
// sibling takes them in, as a Decided, when it hears that the leader is dead, before a Claim that
// Deposes the leader, and before it donates its state; from the first two on nothing more is kept
// for it. So decisions are stable at once, and siblings are told of many at a time.
//
// What a replica says it knows carries the Term of the leader that it follows. A replica that still
// follows an earlier one doesn't count it: they may be other decisions than those that it knows.
//
// When the leader dies the next replica claims to lead: it asks all siblings (Claim), which
// answer with the decisions that it lacks (Tail) and hear nothing of the old leader any more.
// When all have answered, or are dead, it tells each what that one lacks, and leads.
//
// A replacement (Admit, AppendState, Restore, Commit, Joined) takes over the log of its donor.
// Its turn to lead comes after those of all that were there before. From Admit on it counts for
// Stable as one that knows what its donor was known to know: it may soon be all that is left. A
// claim waits for it, because its donor may have died with the only answer.
//
// # What is relied on
//
//   - Frames of one ordered pair of processes arrive in order, each at most once, and all of
//     them unless one of the two dies. Frames of a process that is known dead are dropped.
//   - A process that is taken for dead by mistake is killed, and of two siblings at most one
//     takes the other for dead by mistake. It is dead before all that know of it are.
//   - What is kept for a sibling is there when it looks, and Kept isn't called for what is kept
//     after it has looked for the last time.
//   - What a program does depends on its decisions and its messages only.
//   - A donor has nothing waiting for stability when Admit is called, and its program is paused
//     until the replacement has joined or is dead. The decisions that the donor's program hasn't
//     carried out are the driver's to hand over. Restore is followed by the deaths that the
//     replacement knows of.
//   - Of each rank one slot at a time is refilled.
//
// # Invariants
//
//  1. The logs of live siblings, of which none takes another for dead, are beginnings of one
//     log.
//  2. What depends on a decision leaves a process only when each sibling that isn't known dead
//     there knows the decision, or finds it before it follows another leader.
//  3. A leader knows every decision on which anything depends that has left a process.
//
// # What is explored
//
// Every state of small jobs, with deaths, false suspicions and a healing; and known mistakes,
// which must be caught. Jobs of two ranks with two and three replicas and two deaths are visited in
// pieces, by which processes die (TestPieces). Larger jobs, of two and three ranks with three
// replicas, are walked through at random; that a replacement leads last has no test that would
// notice if it didn't.
//
// # Limits
//
// internal/runtime/process/order.go is the driver (banyan run --order leader), and ledhealing.go
// beside it of replacements. The tests' world takes it as given that what has left a process
// reaches all replicas of its receiver, as package replica sees to. While a
// replacement takes over its donor's state, the rank sends nothing that depends on new
// decisions.
package order
