// Package steward is the machines by which the agents of a job's hosts decide together: which
// hosts are lost, where each process runs, and which agent leads. There is one agent a host. One of
// them is the steward, which commands the others. It is a pure machine (package proto).
//
// # Voters
//
// Up to MaxVoters hosts vote, in different failure domains where there are (Ledger.Elect). If they
// are an even number, the console votes too, if it runs on a machine of its own, or else a witness:
// a party that keeps no ledger. More than half of the voters are a quorum, or half of them with the
// most senior one. "Most senior" is fixed in the electorate. So any two quorums have a voter in
// common, whatever has died. The price: of two hosts without a third voter the senior one survives
// the loss of the other, and the other doesn't survive the loss of the senior one.
//
// A witness may be files on a shared file system: FileWitness.
//
// # Leases
//
// An agent asks all voters for a lease every Config.Renew (Renew, Grant), but a witness only if its
// last question wasn't granted without. Once a quorum has
// answered a question, the agent holds a lease that runs for Config.Lease from when it asked. When
// the lease ends, the processes are dead: the driver has given the kernel each deadline before
// (Extend), so a stopped agent makes no difference. An agent that has lost its lease begins its
// next incarnation, without processes. When an incarnation has its first lease it joins, and its
// processes act from when the steward has welcomed it.
//
// A voter remembers when it last granted each agent a lease. The steward asks the voters how long
// they have granted a silent agent nothing. If a quorum says Lease + Margin, the agent's
// incarnation is lost. Every lease needs a quorum, and that has a voter in common with the one that
// answered: so for the whole length of a lease there was no new one. Config.LeastMargin has the
// arithmetic of the clocks. A steward that is cut off gets no such answers, and concludes nothing.
// A death takes no vote back: the electorate changes only as its own quorum decides.
//
// An agent that the steward can't hear can't be commanded. The steward's question about it is a
// doubt, too: voters grant that agent nothing, as long as the steward repeats it. Else an agent
// that others hear would live for ever, and the steward wait for it.
//
// # Terms and the ledger
//
// The ledger says which host is up, where each process runs and how it ended, which parties vote,
// and the outcome. Only the steward of a term writes it. A voter listens to no term before the last
// one that it has promised. To begin a term, a candidate collects the promises of a quorum, and
// with them the last version that any of them has written (Prepare, Promise). It writes that
// version as its own. This is Paxos with the whole ledger as the value. What a quorum has written
// is durable, and only then does anything depend on it (Action, writing.after). With five voters a
// version is on three agents at least.
//
// Nobody leads a job whose durable ledger says that it is over: a steward that is gone as soon as
// that was written has a successor that only tells the others.
//
// A new electorate is written under both the former and the new voters, and the next version ends
// the former ones' vote. A steward changes the electorate only when the present one is durable. A
// witness is told of a change when enough of the new voters have it that keep a ledger.
//
// A host that is drained leaves when nothing runs there, its driver holds nothing that others need,
// and it doesn't vote. Until nothing runs there it votes where that bears one death more
// (Ledger.Elect). If no other host is up it stays and votes: else nobody could write how the job
// ends. If it loses its lease it comes back as one that is drained.
//
// If the new voters fall silent before a change is durable the steward takes it back.
//
// A witness keeps no ledger. So it votes only on the beginning of a term and on electorates, and
// what it has accepted names the ledger's content. A candidate that hasn't got that content can't
// go on.
//
// Commands carry the term, and the incarnation of the agent that they are for. An agent refuses a
// term before the last one of which it has heard, and another incarnation.
//
// # The next steward
//
// A steward says so in its questions. The first voter after it that has a lease, and hears from a
// quorum that the steward hasn't said so for Patience, begins a campaign; each voter after it waits
// Stagger longer. So one bad link between two agents moves no steward.
//
// # Invariants
//
//   - One agent acts in a term, and no agent obeys an earlier term than before.
//   - What was durable is in every later durable ledger.
//   - No incarnation of an agent counts as lost while its processes may act. So no process is
//     started anew while its last incarnation may act.
//   - Of two sides of a cut, one at most begins terms, writes ledgers, and gets leases.
//   - An agent without a lease ends after GiveUp, and one with a lease after twice as long in which
//     nobody leads. An agent that hears that the job is over ends.
//
// # Theorem
//
// Let a quorum of the voters live and be undisturbed: each message takes τ at most, and clocks run
// at the right rate. Let r be the number of voters with a ledger that come before the first that
// lives, without the steward. Let 8τ ≤ Stagger - Renew.
//
//  1. If the steward dies, another one acts after Patience + r·Stagger + Renew + 8τ at most.
//  2. If another host dies, that is durable after Lease + Margin + Renew + 6τ at most.
//
// Proof. (1) A voter has heard the steward's last question after τ. Let an agent ask at the time a.
// An answer says an age of a - τ at least, and of the time that it took, only its own way back
// counts against that: τ at most. So if a ≥ Patience + r·Stagger + 2τ all answers say that the
// steward is silent. The agent asks at some such time that is Renew after it at most. The answers
// come after 2τ, the promises after 2τ more, the confirmations after 2τ more. The next voter waits
// Stagger longer, and so can't interfere before. (2) In the same way, with Lease + Margin in place
// of Patience, one question and one write. TestBounds reaches both to within some milliseconds.
// With clocks that are wrong by ρ, all but τ grows by a factor of 1 + 2ρ.
//
// # What is explored
//
// TestTerms tries all orders of events among two to four voters, with a witness or without:
// campaigns at any moment, messages late or lost. TestLeases does the same for leases, with all
// clocks. TestFilesTerms and TestFilesLeases do it for two agents that hear only a witness of
// files, whose calls take effect late, fail, or lie. TestPoints lets every fault strike a job of
// two to four hosts at moments close together, also two faults in a row, and TestRandom several at
// random moments in jobs of up to 63 hosts and a witness. The canaries check that they find
// mistakes.
//
// # Limits
//
// A voter that forgets what it has promised breaks all this: an agent that is started anew must be
// another Host. Agents are believed. A ledger that names every process of 16,384 hosts is written
// as a whole; a driver sends what has changed.
//
// If messages are lost without end between all voters, nothing is decided, and all agents end.
package steward
