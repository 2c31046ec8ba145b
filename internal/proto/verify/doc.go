// Package verify finds silent corruptions of data: it compares, while a job runs, what the
// replicas of a rank send. The idea is redMPI's (Fiala et al., SC '12); here it uses
// the acknowledgements of the parallel protocol (package replica), so that no
// message is added and none is longer.
//
// # How
//
// A receiver keeps, for each channel, one digest of all eager messages that it has accepted,
// in the order of their numbers. A cumulative acknowledgement carries the digest. It goes to those
// replicas of the sender's rank that didn't send the messages themselves. Each compares it with
// the digest of what it has sent under the same numbers, now or when it has come as far.
// The acknowledgement of a rendezvous carries the digest of that message.
//
// So replica s of the sender's rank learns what replica k has sent, as it arrived, for every
// k that has a receiver of its own. Call the pair, sender k and receiver k, stream k. A
// stream that differs has a wrong sender, or was changed on its way; in either case its
// receiver has taken in what is wrong. So both must be stopped.
//
// # The vote
//
// The live replicas of the sender's rank vote, each about its stream, and a
// majority of at least 2 decides. Each process counts for itself:
//
//   - if it is in a majority, a stream that differs from it is Outvoted;
//   - if no majority of three or more can include it any more, it is Outnumbered, and has to
//     stop;
//   - if there can't be a majority at all (say, two are left and differ) the vote is
//     Undecided, and the job has to stop.
//
// A wrong process counts about itself, and the right ones count about it. They come to the same
// end by different messages, so no process waits for another.
//
// # Replacements
//
// A replacement that fills a dead replica's slot with the state of a donor (package replica,
// Healing) takes over the donor's digests, too. They are cumulative, so it goes on as if it had
// sent and received everything itself:
//
//   - As a receiver it tells what it has when it has joined. The others compare that, and so
//     compare all that its donor had received of the same stream's messages. The words of its
//     predecessor are void, except those in favour of a rendezvous that the donor had completed:
//     the replacement will say nothing about that one.
//   - As a sender it knows what its donor was told. No receiver tells a sender of what that has
//     sent itself. So when the replacement has joined, the receivers tell all replicas of the rank
//     anew what they have. It hears of its donor's stream, and the process that stood in for its
//     predecessor hears of the predecessor's. When the state is taken, no rendezvous of the donor
//     is under way, so there is nothing to tell of the earlier ones; of later ones the receivers
//     tell the replacement when it has joined.
//   - If the stream's other end is dead too, nothing of the stream is left, and a difference is
//     forgotten. If it is live, it has taken in what differed, and is stopped. The replacement is
//     stopped with it, which is one stop too many, but doesn't happen again.
//
// While a slot is empty no process waits for its words, and no digest is kept for it.
//
// # Invariants
//
//   - Replicas that send the same never cause a verdict, whatever the timing, the deaths and the
//     replacements.
//   - If one stream differs among three or more that all have their receivers, every other
//     sender finds it outvoted when the acknowledgements have arrived, and it finds itself
//     outnumbered.
//   - A difference stays: digests of streams that have differed once differ for ever, since
//     for a given message the step from digest to digest is a bijection.
//
// # Limits
//
// A digest is made of CRC32Cs: any error within 32 bits of one message is found for certain,
// others with a chance of all but one in 2^32. Data that is wrong in all replicas alike before it
// is first sent isn't found. What a receiver did with wrong data before it was
// stopped (an output, say) has happened. Receivers with fewer replicas than the sender carry
// fewer streams: then a difference may stay undecided. A replacement is a copy of its donor: an
// error in the state that has reached no message before is in both, and two that share it agree.
// Memory: 24 bytes for each message that some receiver hasn't acknowledged.
package verify
