// Package replica runs every rank as one or several processes, its replicas, and
// masks their crashes from the program. It is the parallel protocol of Lefray,
// Ropars and Schiper (algorithm 1) for send-deterministic programs, with eager
// messages that complete at once and any degree (decision 9). Beyond the paper it has
// ranks that differ in degree, the mirror protocol, and a recovery (section 3.4) for any
// degree, which crashes don't disturb.
//
// # The protocol
//
// Replica k of a rank sends to replica k of each other rank. A receiver acknowledges what has
// arrived to the other replicas of the sender's rank. Until then they retain the message. When
// a replica dies, the lowest live replica of its rank sends to the dead one's receivers, and
// begins with the messages that they haven't acknowledged. No process waits for a view: each
// acts on the deaths that it knows of, in whatever order it hears of them.
//
// A rank may have fewer replicas than another. A replica that doesn't exist counts as dead
// from the start: the lowest replica of the sender's rank covers its index, and no process sends
// to it.
//
// A rendezvous is offered instead of sent. An offer that has arrived is worth
// nothing if its sender dies before the data is through. So a rendezvous is
// acknowledged on its own, when it is complete; the cumulative acknowledgements
// are about eager messages. A receiver pulls from the first sender that offers, remembers
// the others that offer, and turns to one of those when it hears that the first is dead.
//
// With the mirror protocol every replica covers all indexes from the start. So
// no eager message is retained or acknowledged, and the first of several copies is
// accepted. A rendezvous is as before.
//
// # What is relied on
//
//   - The program is send-deterministic, so the message with the number n of
//     (context, source rank, destination rank) is the same at all replicas.
//   - Frames of one ordered pair of processes arrive in order, each at most once,
//     and all of them unless one of the two dies. Each incarnation of a process counts as a
//     process of its own here; a frame of an incarnation that is known to be over is dropped.
//   - Every death becomes known to every live process in the end. A process
//     that is taken for dead by mistake is killed.
//   - A process leaves only when Idle, and first sends everything that it has been asked to send.
//     If it dies while it does so, its death becomes known like any other.
//   - Of each rank one slot at a time is refilled: the next Donate for the rank comes when the
//     replacement is Healed or dead. Slots of different ranks may be refilled at once. The donor
//     isn't one that is taken for dead at that time (it may be
//     later). A replacement that hears of its donor's death before it has the whole state
//     ends.
//
// # Invariants
//
// Let s be a replica of one rank and d one of another, both live, on one channel.
//
//  1. d accepts the numbers 1, 2, 3… without gap or repetition.
//  2. s transmits an eager message to d at most once, in the order of the numbers,
//     and skips only what d has acknowledged to s. (While s covers d it goes
//     through the messages in order. When it begins to cover d, it goes through
//     the retained ones first.)
//  3. For each message that s has sent to d's rank: d has it, or s retains it with
//     d pending, or it is on its way from s to d. (A pending mark is removed only by
//     an acknowledgement, which d sends only for what it has, or by
//     transmission; with a rendezvous by the transmission of the data.)
//  4. Once all deaths are known, each index of a rank's dead is covered by
//     the lowest live replica, unless another replica has told that one that it covers the
//     index. (Two may cover it, to no harm, if siblings have heard different things of a
//     replacement that died.)
//  5. d doesn't know the sender that it pulls a rendezvous from to be dead, if any
//     sender that has offered it is live. A sender that has offered a rendezvous retains it
//     until d has it.
//  6. d owes an acknowledgement of what it has to all that may have it pending.
//     (The sender itself has no mark left: by 2 no eager message below a number
//     that came from s is pending there.)
//
// # Why each live replica delivers the failure-free sequence
//
// Safety: d accepts a message only as the next in number (1), and the number
// says which message it is, by send-determinism. No correct sender makes a gap:
// what precedes a message that s transmits to d was transmitted before, and so
// has arrived, or was skipped because d has it (2).
//
// Liveness: let all deaths have happened and be known, and let d wait for a
// message. The sender with d's index covers d if it lives; otherwise one live
// replica does (4). Call it s. If s hasn't come to the message in its
// program, then by induction over the failure-free run it will. If it has, the
// message is at d or on its way (3), because s transmits all that it
// covers. A rendezvous is offered by s, and pulled from a sender that lives
// to answer (5).
//
// No message is retained for ever: d acknowledges what it has to every process that retains it
// (6), early if that process lags; and what only the dead needed is forgotten with them.
//
// # Healing
//
// A dead slot is refilled by a replacement q. It takes the state of a donor d, a live
// replica of the same rank whose program is paused at a safe point: none of its
// rendezvous is in progress. There are five steps:
//
//	PREPARE   d → all        from now on the slot is joining: neither dead nor present
//	PREPARED  all → d        after all acknowledgements that were owed
//	(state)   d → q          when all have answered; AppendState, Restore
//	JOINED    q → all        Commit; from now on the slot is present
//	WELCOME   all → q        after all acknowledgements that q needs
//
// At PREPARE each process gives q the marks that d has: what is pending for d is
// pending for q, what d has acknowledged counts as acknowledged by q, and what was known of the
// slot's earlier incarnation is void. Messages that are sent while q is joining are pending for q
// and not transmitted; single acknowledgements for q are deferred.
//
// Let S be the moment at which the state is taken. The state has what q needs:
//
//   - As a receiver (3 with q for d). A message that s transmitted to d before it
//     answered has arrived at d by S, by the order of channels. A message that d had
//     acknowledged is at d. Any other is pending for d at s, and so for q; or s
//     sends it later, and then q is pending as well. So each message is in the state or pending.
//     It does no harm that d may have received some of the pending ones in between: after JOINED
//     q acknowledges all that it has to all. No rendezvous is among them,
//     because d completes none between PREPARE and S, and when it asks it has acknowledged those
//     before. An offer in the state has no sender. As it isn't
//     complete it is pending for q, so the process that covers q offers it again.
//   - As a sender (3 with q for s). What d had transmitted to a receiver before
//     PREPARE is at that receiver when it answers. d transmits nothing until S: its
//     program is paused, and if it has to substitute a sibling, it puts that
//     off (AppendState does it). So what q's copy of the marks doesn't have pending
//     is at its receiver. What receivers acknowledge to d after S they acknowledge
//     to q at JOINED: what they believe q to know is what d knew when they answered.
//     The deferred single acknowledgements follow.
//
// From its Commit q covers its index. The process that did so before stops when JOINED
// reaches it. Until then both may transmit: a receiver drops second copies,
// and neither makes a gap. So every moment is covered, and neither
// waits for the other. To avoid repeating all that it retained, q waits
// for the WELCOME of the receivers, which comes after their acknowledgements. The other
// indexes stay covered: the WELCOME of a sibling says what that one covers, and q,
// if it is the lowest, covers what is left (4). (From PREPARE on such a word doesn't
// count for the slot that is joining: the process that gave it may stop, and the replacement may
// die before all have heard why.) A process that covers an index stops
// only for a replacement that has joined. If the replacement dies, the index is one of the dead
// again, and what was sent since is retained with its mark (3).
//
// A death replaces the answer of the dead. If q dies, that is a death like others: the
// marks go, whether it was joining or not. If d dies before q has the state, q ends. If d dies
// later it isn't needed: the rank doesn't count as lost until JOINED or
// q's death, one of which comes, because q is joining. Notes and deaths carry q's incarnation, so
// those of an attempt that is over have no effect. A donation is given up when a process
// leaves: the job is ending.
//
// # Several slots at once
//
// Let q with the donor d and y with the donor e be replacements of different ranks, in progress at
// the same time. All that is said above of s holds for y, if q and y know of each other and y has
// for q the marks that s would have. Five rules see to that:
//
//   - PREPARE goes to the slots that are joining, too, and their answers are awaited. A
//     replacement answers before it has its state: it keeps the PREPARE, and applies it to the
//     state when that comes.
//   - A donor that prepares puts off JOINED and WELCOME until its state is taken. It transmits
//     nothing before, and gives out no deferred acknowledgement that its replacement couldn't
//     give.
//   - The state has the deferred acknowledgements.
//   - A replacement that takes in a JOINED says that it has joined, too: the other's state may be
//     from before that. Its JOINED to a slot without state is lost, and this one makes up for it.
//   - A replacement transmits to another process only after that one's WELCOME, so never to one
//     that has put its JOINED off.
//
// Why q and y know of each other: if neither donor had heard of the other when it paused, each has
// sent its own PREPARE before it answers the other's. So each state has the other slot as joining,
// by the order of channels. Otherwise one of them, say e, knew that q was joining. Then the
// state of e has q, and q has answered e's PREPARE. (Both can't have known of the other.)
//
// Why q's marks for y are right, if q computes them from d's state: what isn't pending there for e
// was acknowledged by e, or transmitted by d before its own PREPARE, and e had that when it
// answered d. So e has it, and so has e's state. No acknowledgement of e for q can come before
// e's PREPARE, because both come from e. And q transmits nothing before.
//
// Nobody waits in a circle: each PREPARE is answered at once, and no replacement waits for
// another's WELCOME before it is Healed. A message that is sent to a slot that is still joining
// here is pending for it.
//
// # How far a replica may be ahead
//
// With the mirror protocol a message comes from whichever replica of its sender is first. So slow
// replicas delay no other, and no other delays them: what waits for their programs would grow
// without end. The senders can't see that. They get their answers from the fast replicas of the
// receiver, and none of them is itself ahead. So the receiver is measured. Each replica counts
// what its program has received (Received) and tells its siblings now and then (Report,
// Reported). The difference is its skew. A replica that is ahead of a sibling by more than
// Config.MaxSkew is Throttled: it sends nothing more until that sibling has received more, or is
// dead. A replica that only sends is never throttled: its siblings' lag costs no memory, because
// their copies are duplicates.
//
// This bounds the memory at a replica: at most the limit waits there in excess of what waits at
// the sibling whose program has received most. At that sibling it is what it would be in a job
// of the fastest replicas alone. Two amounts come on top: what a program receives from one send
// to the next, because it is throttled at its sends; and, where replicas receive in different
// orders, what they have received in another order. Sizes are counted, not numbers, and over all
// channels. The sum over the same messages is the same in any order, so of two replicas at most
// one is ahead of the other. Channel by channel each could be ahead of the other, and they would
// wait for each other.
//
// Rendezvous aren't counted. Their data waits at the sender. Its program waits for all replicas of
// the receiver, so it isn't ahead of any of them by more than its own requests. For that very
// reason a replica isn't throttled while it is offered a rendezvous that it hasn't received: the
// sender may wait for it alone, and the sibling because of which it would be throttled may wait
// for that sender. (Where replicas receive from any source, one may have had another's long talk
// first. TestReceiverOfAnOfferIsNotThrottled of package process has such a job, which hangs
// without this rule.) So there is no bound while an offer waits. Few programs leave large
// messages unreceived for long while they exchange many small ones.
//
// No process waits for ever. Let all deaths be known and all frames have arrived, let H be the
// replicas that are throttled, and N the other live ones.
//
//   - One replica of each rank is in N: the one that has received least. What it knows of a
//     sibling is less than a quarter of the limit out of date, because a sibling that joins is
//     told what it has missed.
//   - No process waits for one in H. What that one has sent has arrived. A message that it has yet
//     to send, eager or not, comes from those in N. And it has completed all that was offered to
//     it.
//
// So those in N are a job with the mirror protocol whose other replicas don't count, and
// by the section on liveness it goes on. A replica whose program is through counts as having
// received all (Through), even if its program left messages unreceived. The others don't wait for
// a replica that is joining or has left. They do wait for a donor that is
// paused, and that needs no program for what it waits for. A replacement has received what its
// donor had, and says so when it joins; its siblings then tell it what they have received.
//
// With the parallel protocol the senders do see the lag: they retain what the slow replicas lack,
// and the layer above bounds that. This ends where one process covers several indexes of a rank,
// because a sibling died or never existed: it doesn't retain what it transmits, and nothing holds
// it back for the slower of its receivers. The bound above doesn't fit that protocol, in which
// replicas do wait for what those in H are to send.
//
// # Ranks that are through
//
// Let the program of s be through, and let s Keep nothing for d. By 3 each message of its rank is
// at d or on its way from s to d. So if s says now that it is through, d has all that the rank
// ever sends to it when it hears that.
//
// # What is explored
//
// The tests check all this: every state of small jobs with crashes at every point, false
// suspicions, processes that leave early and slots that are refilled; 20,000 states of larger
// ones; random schedules; and known mistakes that the explorers must catch. States that can't
// show anything new are left out; reduced_test.go says which those are, and why.
//
//	BANYAN_EXPLORE=long GOMAXPROCS=1 \
//		go test -run TestExhaustive -v -timeout 1h ./internal/proto/replica
//
// visits all states of the larger ones too, except 3 replicas each with Config.MaxSkew and most of
// those in which two slots are refilled at once (at most 40 million). These are the largest,
// with the seconds that a processor took, in less than 1 GB. In programs, of rank 0 | rank 1, s
// is a send, o the offer of a rendezvous and r a receive; one process is dead from the start and
// its slot is refilled, and one more crashes at any point:
//
//	3 replicas each, acknowledging at once:                r | s          18,450,056   80
//	                                                       s | r          16,579,754   93
//	2 replicas each, mirror:                               o r | r o       9,430,355   29
//	2 replicas each, false suspicions, early leaving:      s r | s r      11,675,010   41
//	                                                       o | r           2,221,966    8
//	                                                       r | o             629,150    2
//	                                                       s | r             436,660    1
//	                                                       r | s             433,106    1
//
// # Costs and limits
//
// Each message costs one transmission per replica and r-1 acknowledgements, coalesced by channel;
// with mirror r transmissions and no acknowledgement. A call takes a map look-up and O(degree),
// amortised; a death, a departure or a joining takes a walk over the channels and what they
// retain. How much is retained is bounded only by how far replicas lag, and by how long a slot
// is joining: the layer above must hold a sender back (see Retained), or declare the replacement
// dead. A healing takes 4 notes per process of the job. The machine has no clock. No process
// that takes part in a healing is Idle until the replacement has joined or died, so the layer
// that started the healing makes sure that one of the two happens. Channels are kept for ever,
// about 200 bytes each: contexts used × ranks talked to.
//
// With Config.MaxSkew four reports go to each sibling while a replica receives as much as the
// limit. A message costs an addition and two comparisons.
//
// With mirror Behind sees only rendezvous, because nothing else is acknowledged. Where
// the program isn't at a safe point, or no replica of a rank is left, nothing can
// be healed. Messages from a rank to itself don't come here.
package replica
