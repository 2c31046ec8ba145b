// Package replica runs every rank as several processes, its replicas, and masks
// their crashes from the program. It is the parallel protocol of Lefray, Ropars
// and Schiper (algorithm 1) for send-deterministic programs, with eager
// messages that complete at once and any degree (DESIGN, decisions 8 and 9).
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
// A rendezvous is offered instead of sent. An offer that has arrived is worth
// nothing if its sender dies before the data is through, so a rendezvous is
// acknowledged on its own, when it is complete; the cumulative acknowledgements
// are about eager messages. A receiver that is offered an incomplete
// rendezvous again, by its sender's substitute, pulls from that.
//
// # What is relied on
//
//   - The program is send-deterministic, so the message with the number n of
//     (context, source rank, destination rank) is the same at all replicas.
//   - Frames of one ordered pair of processes arrive in order, each at most once,
//     and all of them unless one of the two dies.
//   - Every death becomes known to every live process, some time. A process
//     that is held for dead by mistake is made dead.
//   - A process leaves only when Idle, and sends everything it has been asked to
//     before; if it dies in that, its death becomes known like another's.
//
// # Invariants
//
// Let s be a replica of one rank, d one of another, both live, on one channel.
//
//  1. d accepts the numbers 1, 2, 3… without gap or repetition.
//  2. s transmits a message to d at most once, in the order of the numbers,
//     and skips only what d has acknowledged to s. (What s covers only grows,
//     and on growing goes through the retained messages in order.)
//  3. Of what s has sent to d's rank, d has each message, or s retains it with
//     d pending, or it is on its way from s to d. (A pending mark goes only by
//     an acknowledgement, which d sends only for what it has, or by
//     transmission; with a rendezvous by the transmission of the data.)
//  4. Whoever lives as the lowest of its rank covers all the dead of its rank
//     that it knows of, for ever.
//  5. Of all the offers of one rendezvous that d has, it pulls from the sender
//     that is last in the order of succession, and that one knows that the
//     earlier are dead.
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
// message. The sender with its own index covers d if it lives, else the lowest
// live replica does (4). Call it s. If s hasn't come to the message in its
// program, then by induction over the failure-free run it will. If it has, the
// message is at d or on its way (3), for s leaves nothing that it covers
// untransmitted. A rendezvous is pulled from s, the last in succession (5), and
// s lives to answer.
//
// Nothing is retained for ever: what d has, d acknowledges to whoever retains it
// (6), early if that one lags; and what the dead needed is forgotten with them.
//
// The tests check all this: every interleaving of small jobs with crashes at
// every point, false suspicions and early leavers; random schedules of larger
// ones; and known mistakes that the explorers must catch.
//
// # Costs and limits
//
// Per message and replica one transmission, and r-1 acknowledgements, coalesced
// by channel. A call takes a map lookup and O(degree), amortised; a death or a
// departure takes a walk over the channels and what they retain. How much is
// retained is bounded only by how far replicas lag: the layer above must hold a
// sender back (see Retained). Channels are kept for ever, about 200 bytes each:
// contexts used × ranks talked to. Dead replicas aren't recovered (section 3.4
// of the paper). Messages from a rank to itself don't come here.
package replica
