// Package verify finds silent corruptions of data: it compares, while a job runs, what the
// replicas of a rank send. The idea is redMPI's (Fiala et al., SC '12); here it rides on
// the acknowledgements of the parallel protocol (package replica), so that no
// message is added and none is longer.
//
// # How
//
// A receiver keeps, for each channel, one digest of all eager messages that it has accepted,
// in the order of their numbers. A cumulative acknowledgement carries it. It goes to those
// replicas of the sender's rank that didn't send the messages themselves: each compares it with
// the digest of what it has sent under the same numbers, now or when it has come as far.
// The acknowledgement of a rendezvous carries the digest of that message.
//
// So replica s of the sender's rank learns what replica k has sent, as it arrived, for every
// k that has a receiver of its own. Call the pair, sender k and receiver k, stream k. A
// stream that differs has a wrong sender, or was changed on its way; in either case its
// receiver has taken in what is wrong. So both are to be stopped.
//
// # The vote
//
// The replicas of the sender's rank that live vote, each about its stream, and a
// majority of at least 2 decides. Each process counts for itself:
//
//   - if it is of a majority, a stream that differs from it is Outvoted;
//   - if no majority of three or more can include it any more, it is Outnumbered, and has to
//     stop;
//   - if there can't be a majority at all (two are left and differ, say) the vote is
//     Undecided, and the job has to stop.
//
// Who is wrong about itself and who is right about it come to the same end by different
// messages, so nobody waits for anybody.
//
// # Replacements
//
// Where a replacement takes a dead replica's place, with the state of a donor (package replica, Healing), it takes over the
// donor's digests, too. They are cumulative, so that it goes on as if it had sent and got all that itself:
//
//   - As a receiver it tells, when it has joined, what it has: the others compare that, and so all that its donor
//     had got of the same stream's messages. Its predecessor's words are void, but for what they said
//     in favour of a rendezvous that the donor had completed: of that the replacement will say nothing.
//   - As a sender it knows what its donor was told. Nobody tells a sender of what it has sent itself;
//     so the receivers tell all replicas of the rank anew what they have, when the replacement has joined: it hears of its donor's
//     stream, and who had stood in for its predecessor of that one. At the moment of the state no rendezvous of the donor is
//     under way, so there is nothing to be told of those before; later ones receivers tell it when it has joined.
//   - If the stream's other end is dead too, nothing of the stream is left, and a difference is forgotten. If it
//     lives, it has taken in what differed, and is stopped; and the replacement with it, which
//     is one too many, but doesn't happen again.
//
// While a place is empty nobody waits for its words, and no digest is kept for it.
//
// # Invariants
//
//   - Replicas that send the same never cause a verdict, whatever the timing, the deaths and the replacements.
//   - If one stream differs among three or more that all have their receivers, every other
//     sender finds it outvoted when the acknowledgements are there, and it finds itself
//     outnumbered.
//   - A difference stays: digests of streams that have differed once differ for ever, since
//     for a given message the step from digest to digest is a bijection.
//
// # Limits
//
// A digest is made of CRC32Cs: any error within 32 bits of one message is found for certain,
// others but for one in 2^32. What is wrong before the first send of it, in
// all replicas alike, nobody finds. What a receiver did with wrong data before it was
// stopped (an output, say) has happened. Receivers with fewer replicas than the sender carry
// fewer streams: then a difference may stay undecided. A replacement is a copy of its donor: an
// error in the state that has reached no message before is in both, and two that share it agree. Memory: 24 bytes for each message
// that some receiver hasn't acknowledged.
package verify
