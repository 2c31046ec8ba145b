// Package replica runs every rank as one or several processes, its replicas, and
// masks their crashes from the program. It is the parallel protocol of Lefray,
// Ropars and Schiper (algorithm 1) for send-deterministic programs, with eager
// messages that complete at once and any degree (decision 9), and
// beyond the paper: ranks that differ in degree, the mirror protocol, and a
// recovery (section 3.4) for any degree that crashes don't disturb.
//
// # The protocol
//
// Replica k of a rank sends to replica k of the others. A receiver tells the
// other replicas of the sender's rank what has arrived; until then they retain
// the message. When a replica dies, the lowest one of its rank that is alive
// sends to the receivers it had, beginning with what they haven't
// acknowledged. Nobody waits for a view: each process acts on the deaths that
// it knows of, in whatever order it hears of them.
//
// A rank may have fewer replicas than another. One that doesn't exist is one that
// was dead from the start: the lowest of the sender's rank covers its index, and
// nobody sends to it.
//
// A rendezvous is offered instead of sent. An offer that has arrived is worth
// nothing if its sender dies before the data is through, so a rendezvous is
// acknowledged on its own, when it is complete; the cumulative acknowledgements
// are about eager messages. A receiver pulls from the first who offers, remembers
// who else did, and turns to one of those when it hears that the first is dead.
//
// With the mirror protocol every replica covers all indexes from the start. So
// nothing eager is retained or acknowledged; of several copies the first is
// accepted. A rendezvous is as before.
//
// # What is relied on
//
//   - The program is send-deterministic, so the message with the number n of
//     (context, source rank, destination rank) is the same at all replicas.
//   - Frames of one ordered pair of processes arrive in order, each at most once,
//     and all of them unless one of the two dies. Another incarnation of a process
//     is another process in this; a frame of one that is known to be over is dropped.
//   - Every death becomes known to every live process, some time. A process
//     that is taken for dead by mistake is made dead.
//   - A process leaves only when Idle, and sends everything it has been asked to
//     before; if it dies in that, its death becomes known like another's.
//   - One slot at a time is filled anew: the next Donate comes when the replacement
//     is Healed or dead, and not to a donor that is taken for dead (it may come to
//     be so later). A replacement that hears of its donor's death before it has
//     the whole state ends.
//
// # Invariants
//
// Let s be a replica of one rank, d one of another, both live, on one channel.
//
//  1. d accepts the numbers 1, 2, 3… without gap or repetition.
//  2. s transmits an eager message to d at most once, in the order of the numbers,
//     and skips only what d has acknowledged to s. (While s covers d it goes
//     through the messages in order. When it comes to cover d, it goes through
//     the retained ones first.)
//  3. Of what s has sent to d's rank, d has each message, or s retains it with
//     d pending, or it is on its way from s to d. (A pending mark goes only by
//     an acknowledgement, which d sends only for what it has, or by
//     transmission; with a rendezvous by the transmission of the data.)
//  4. Once all deaths are known, each index of the dead of a rank is covered: by
//     the lowest that lives, unless another has told that one that it does. (By
//     two, to no harm, where siblings heard different things of a replacement that died.)
//  5. The sender that d pulls a rendezvous from isn't known dead to d, if any
//     that has offered it isn't. Who has offered it retains it until d has it.
//  6. d owes an acknowledgement of what it has to all that may have it pending.
//     (The sender itself has no mark left: by 2 nothing eager below a number
//     that came from s is pending there.)
//
// # Why each live replica delivers the failure-free sequence
//
// Safety: d accepts a message only as the next in number (1), and the number
// says which message it is, by send-determinism. No correct sender makes a gap:
// what precedes a message that s transmits to d was transmitted before, and so
// is here, or skipped because d has it (2).
//
// Liveness: let all deaths have happened and be known, and let d wait for a
// message. The sender with its own index covers d if it lives, else one live
// replica does (4). Call it s. If s hasn't come to the message in its
// program, then by induction over the failure-free run it will. If it has, the
// message is at d or on its way (3), for s leaves nothing that it covers
// untransmitted. A rendezvous is offered by s, and pulled from a sender that lives
// to answer (5).
//
// Nothing is retained for ever: what d has, d acknowledges to whoever retains it
// (6), early if that one lags; and what the dead needed is forgotten with them.
//
// # Healing
//
// A dead slot is filled by a replacement q, with the state of a donor d, a live
// replica of the same rank whose program is paused at a safe point: none of its
// rendezvous is in progress. Five steps:
//
//	PREPARE   d → all        from now on the slot is joining: neither dead nor present
//	PREPARED  all → d        after all acknowledgements that were owed
//	(state)   d → q          when all have answered; AppendState, Restore
//	JOINED    q → all        Commit; from now on the slot is present
//	WELCOME   all → q        after all acknowledgements that q needs
//
// At PREPARE each process gives q the marks that d has: what is pending for d is
// pending for q, what d has acknowledged q has, and what was known of the slot's
// earlier incarnation is void. What is sent while q is joining is pending for q and
// not transmitted; singles for q are deferred.
//
// Let S be the moment at which the state is taken. The state has what q needs:
//
//   - As a receiver (3 with q for d). A message that s transmitted to d before it
//     answered has arrived at d by S, by order of channels. One that d had
//     acknowledged is at d. Any other is pending for d at s, and by that for q; or s
//     sends it later, and then q is pending as well. In the state or pending: no
//     third. That d has received some of the pending ones between is no harm: q
//     acknowledges all it has to all, after JOINED. Nor is a rendezvous among them,
//     for d completes none between PREPARE and S, and has acknowledged those before
//     when it asks. An offer that is in the state has no sender. As it isn't
//     complete it is pending for q, so who covers q offers it again.
//   - As a sender (3 with q for s). What d had transmitted to a receiver before
//     PREPARE is at that one when it answers, and d transmits nothing until S: its
//     program is paused, and should it have to substitute a sibling, it puts that
//     off (AppendState does it). So what q's copy of the marks doesn't have pending
//     is at its receiver. What receivers acknowledge to d after S they acknowledge
//     to q at JOINED: their idea of what q knows is what d knew when they answered,
//     and the deferred singles follow.
//
// From its Commit q covers its index. The one that did so before stops when JOINED
// reaches it, and until then both may transmit: a receiver drops what is
// there twice, and neither makes a gap. So no moment is without cover, and nobody
// waits for the other's stop. Lest q repeats all that it retained, it waits
// for the WELCOME of those receivers, which comes after their acknowledgements. What
// else is covered stays so: the WELCOME of a sibling says what that one covers, and q,
// if it is the lowest, covers what is left (4). (From PREPARE on such a word doesn't
// count for the slot that is joining: who gave it may stop, and the replacement die
// before everybody has heard why.) A process that covers an index stops
// only for a replacement that has joined; if that dies, the index is one of the dead
// again, and what was sent since is retained with its mark (3).
//
// Deaths excuse answers. If q dies, it is a death like others: joining or not, the
// marks go. If d dies before q has the state, q ends. If d dies later nobody needs
// it: that q was joining keeps the rank from counting as lost until JOINED or
// q's death, one of which comes. Of an attempt that is over nothing has an effect,
// for notes and deaths carry q's incarnation. A donation is given up when somebody
// leaves: the job is ending.
//
// # How far a replica may be ahead
//
// With mirror a message comes from whichever replica of its sender is first. So the slow
// ones hold up nobody, and nobody them: what waits for their programs would grow without end. The
// senders can't see that. They get their answers from the fast replicas of the receiver, and none of
// them is itself ahead. So it is the receiver that is measured: each replica counts what its program has
// received (Received), tells its siblings now and then (Report, Reported), and is Throttled once it
// is ahead of one of them by more than Config.MaxSkew. It sends nothing more then, until that one has received
// more, or is dead. By the same token a replica that only sends is never throttled: its siblings'
// lag costs nobody memory, for their copies are duplicates.
//
// What this bounds: at a replica waits at most the limit more than at the sibling whose program has received most, where
// it is what it would be in a job of the fastest replicas alone. To it comes what a
// program receives from one send to the next, for it is at its sends that it is throttled, and, where replicas receive
// in different orders, what they have received in another order. Sizes, not numbers, are counted, and
// over all channels: the sum over the same messages is the same in any order, so that of two replicas
// one isn't ahead of the other, or the other isn't ahead of it; channel by channel both could be, and wait for each other.
//
// Rendezvous aren't counted: their data waits at the sender, whose program, as it waits for all
// replicas of the receiver, isn't ahead of any of them by more than its own requests. But for that very reason a
// replica isn't throttled while it is offered one that it hasn't received: the sender may wait for it alone, and the
// sibling for whose sake it would be throttled for that sender. (Where replicas receive from any source, one may
// have had another's long talk first. TestWhoIsOfferedAMessageIsNotHeld has such a job, which hangs without
// this.) While an offer waits there is no bound, then. Few programs leave large messages
// unreceived for long while they exchange many small ones.
//
// Nobody waits for ever. Let all deaths be known and all frames have arrived, let H be the replicas that are throttled, and N
// the others that live.
//
//   - Of each rank one is in N: the one that has received least. What it knows of a sibling is less than a
//     quarter of the limit out of date, for it is told what it has missed when one of them joins.
//   - Nobody waits for one in H. What it has sent has arrived. A message that it is to
//     send, eager or not, comes from those in N. And nothing that was offered to it is incomplete.
//
// So those in N are a job with the mirror protocol whose other replicas don't count, and
// by the section on liveness it goes on. Whoever is through counts as having received all (Through), even if
// its program left messages unreceived. A joining replica, or one that has left, isn't waited for; a donor that is
// paused is, and needs nobody's program for what it waits for. A replacement has received what its
// donor had, and says so when it joins; its siblings tell it then, too.
//
// With the parallel protocol the senders do see it: what the slow lack is retained, and the layer above bounds that. But
// this ends where one process covers several indexes of a rank, since a sibling died or never
// was: what it transmits it doesn't retain, and nothing there holds it back for the slower of its receivers. This
// bound can't be had for it as it is: with that protocol replicas do wait for what those in H are to send.
//
// # What is explored
//
// The tests check all this: every state of small jobs with crashes at every point, false
// suspicions, early leavers and slots that are filled anew; 20,000 states of larger ones;
// random schedules; and known mistakes that the explorers must catch. States that can't show
// anything new are left out; reduced_test.go says which those are, and why.
//
//	BANYAN_EXPLORE=long GOMAXPROCS=1 go test -run TestExhaustive -v -timeout 1h ./internal/proto/replica
//
// visits all states of the larger ones too, but for 3 replicas each with Config.MaxSkew (40 million at most;
// 29 million weren't all). These are the largest, with the seconds that a processor
// took, in less than 1 GB. In programs, of rank 0 | rank 1, s is a send, o the offer of a rendezvous and
// r a receive; one process is dead from the start and its slot is filled anew, and one more crashes at any point:
//
//	3 replicas each, acknowledging at once:                r | s          18,450,056   80
//	                                                       s | r          16,579,754   93
//	2 replicas each, mirror:                               o r | r o       9,430,355   29
//	2 replicas each, false suspicions and early leavers:   s r | s r      11,675,010   41
//	                                                       o | r           2,221,966    8
//	                                                       r | o             629,150    2
//	                                                       s | r             436,660    1
//	                                                       r | s             433,106    1
//
// # Costs and limits
//
// Per message and replica one transmission, and r-1 acknowledgements, coalesced
// by channel; with mirror r transmissions and no acknowledgement. A call takes a map
// lookup and O(degree), amortised; a death, a departure or a joining takes a walk
// over the channels and what they retain. How much is retained is bounded only by
// how far replicas lag, and by how long a slot is joining: the layer above must hold
// a sender back (see Retained), or declare the replacement dead. A healing takes 4
// notes per process of the job. It has no clock: nobody who joined a healing is Idle
// until the replacement has joined or died, so whoever started that sees to it that one
// of the two happens. Channels are kept for ever, about 200 bytes each:
// contexts used × ranks talked to.
//
// With Config.MaxSkew four reports go to each sibling while a replica receives as much as the limit, and what it
// costs a message is an addition and two comparisons.
//
// With mirror Behind sees only rendezvous, for nothing else is acknowledged. Where
// the program isn't at a safe point, or no replica of a rank is left, nothing can
// be healed. Messages from a rank to itself don't come here.
package replica
