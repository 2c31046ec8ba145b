// Package founding decides which process founds a group, so that it is founded exactly once: at
// first, and anew after an outage in which all members have ended.
//
// # Candidates
//
// A process that looks for its group and finds no member of it is a candidate. Candidates tell
// each other their state ([Candidate]), as often as their drivers ask one another. Each supports
// the best candidate that it knows: the one that remembers the group's latest view, and among
// equals the one with the lowest name. It does so by a promise: "I am no member, and I don't
// become one but of your founding". A promise stands until the candidate that has it has
// withdrawn, or isn't heard of any more. A candidate founds when all that it needs have promised
// themselves to it.
//
// # Who is needed
//
// A process that has a [Memory], of having been a member, needs a promise of each process that is
// in the last view it remembers, or in the one that it had accepted as the next. A process keeps
// an identity and a count of its starts on disk ([Start]). A promise is to a candidate's present
// start, so it is younger than the candidate's memory: the process that gives it was a member
// before, and isn't any more. So the group is founded anew only if no member lives:
//
//   - A member accepts a view with joiners only once it is in the member's memory on disk. So if
//     any view follows that of a candidate's memory, one of those that it needs has ended
//     remembering it, or is still a member. The first doesn't promise anything to a candidate
//     that remembers less, and the second promises nothing.
//   - Of candidates with the same memory each needs the promise of all others. So one founds.
//
// A process without a memory founds with others that have none: it needs as many promises, its own
// among them, as Expect says, of different names. Exactly one founds if there are no more such
// processes than that.
//
// # Invariants
//
//   - A candidate supports none that remembers less than it does.
//   - A promise is to one start of one candidate, in one round. A candidate that withdraws never
//     counts promises of earlier rounds again.
//   - A candidate that has heard of a live member doesn't found.
//
// # Limits
//
// Two processes that have accepted different proposals for one view, because a coordinator died
// while joiners came in, have memories in conflict: neither founds. That, a disk that was lost
// and a process that doesn't come back take an operator's word.
//
// Processes without a disk forget what they have promised when they restart. More of them than
// Expect, cut into groups that can't hear each other, may found more than once.
package founding
