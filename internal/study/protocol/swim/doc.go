// Package swim is a randomised failure detector, the peer that the ring of
// internal/proto/detector is compared with. No job runs it. It follows Das, Gupta
// and Motivala, "SWIM: Scalable Weakly-consistent Infection-style Process Group
// Membership Protocol" (DSN 2002), without joining and leaving.
//
// Each period a member probes one other, chosen at random: it sends a ping and
// wants an acknowledgement. After a time-out it asks k more members to ping the same
// one and pass the acknowledgement on. If by the end of the period none has come, the
// target is suspected; a suspect that doesn't refute that within another time-out is
// declared dead. Members don't send news in messages of their own: pings and acknowledgements carry
// what they have learned lately, each item a bounded number of times, the least told first.
//
// # Which opinion counts
//
// An opinion is (incarnation, state), where alive < suspect < dead, and the greater of
// two, incarnation first, counts. Only a member itself starts a new incarnation: when
// it hears that it is suspected or dead in the present one. So a live member that is
// heard ends every wrong opinion about itself.
//
// # Invariants
//
//   - At most one probe is under way; its number is in its messages, and a late
//     acknowledgement counts for no other.
//   - Mediators keep no state: the origin of a probe is in its messages.
//   - The opinion about a member never becomes a smaller one.
//   - Every change of a state is reported once; every change of an opinion is
//     passed on Config.Transmit times.
//
// # Where it goes beyond the paper, and where not
//
// A message to a member thought suspect or dead carries that opinion as its first item, so that the
// refutation comes with the answer. A greater incarnation ends the state dead too, as in the
// implementations in use (in the paper dead is for good). Both help SWIM in the comparison. As in
// the paper, a member does nothing about its own stalls: one that was stopped first takes what
// arrived meanwhile, and then goes on as if only its clock had run.
//
// A machine holds an opinion about every member: 8 bytes for each, 12 with RoundRobin.
package swim
