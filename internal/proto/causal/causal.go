// Package causal keeps replicas from receiving messages before their cause.
//
// # Why
//
// Replicas with the same index form a replica layer in which messages obey causality,
// as in a job without replicas. When a process dies, its substitute sends into
// the dead one's layer from its own layer, which may be ahead. What it sends may
// depend on something that the receiver hasn't done yet in its own layer: a
// message from the future. A receive from any source would take it instead of
// the right one. (Lefray et al. don't consider it: their argument
// on anonymous receptions holds within one layer.)
//
// # How
//
// Every rank counts its sends. A Clock holds, for each rank, how many of its
// sends are known to precede what this process does next: vector clocks over
// send-deterministic events, so that the counts of different replicas mean the
// same. Each message carries its sender's clock as a stamp, in which it is counted itself; when
// the program has received a message, its stamp is merged. A message may be delivered when its
// receiver has made the sends that the stamp says precede it.
//
// # Invariants
//
//   - Without substitution every message is Ready when it arrives: its cause is
//     in the same layer.
//   - Along a channel the stamps of one sender grow, so its messages get ready in their order.
//     Where several replicas of it send, a message may be ready before an earlier one, and two
//     copies of one message at different times. The driver keeps the order, and takes the stamp
//     that asks for least.
//   - A stamp counts what the program has received, not what has arrived: it
//     is the program's causality. So what a receiver waits for gets ready:
//     another replica received it after just as many sends.
//
// # Limits
//
// Receives from any source may take messages in different orders in different layers, so stamps may
// differ. With at least three replicas, two layers may be ahead that took them in different orders,
// and each may have a substitute that sends into a third layer. A receiver there
// could wait for a send of its own. No such program is known.
//
// Operations beside the program count as one event each, when they begin (Fork).
//
// A stamp has four bytes for each rank of the job. Threads that receive at the same time share a
// clock, which is no rule for them: it may hang, and lose causes (TestCanariesOfThreads). So the
// driver lets no message wait then. Once layers have mixed it marks what such a process sends, and
// refuses receives from any source, there and in all that depends on marked messages.
package causal

import (
	"encoding/binary"

	"banyan/internal/proto"
)

// Clock is one process's knowledge of the sends that precede what it does next.
type Clock struct {
	self proto.Rank
	past []uint32 // by rank; the own entry counts the own sends
	fork bool     // of an operation: doesn't count
}

// New makes the clock of a process of a rank, before anything has happened.
func New(self proto.Rank, ranks int) *Clock {
	return &Clock{self: self, past: make([]uint32, ranks)}
}

// StampSize is the length of a stamp in bytes.
func (c *Clock) StampSize() int { return 4 * len(c.past) }

// Stamp counts a send of this process and writes its stamp, StampSize bytes: the sends that precede
// the message, and its own. A fork counts it in the stamp only.
func (c *Clock) Stamp(b []byte) {
	past := c.past
	past[c.self]++
	for i, n := range past {
		binary.LittleEndian.PutUint32(b[4*i:4*i+4], n)
	}
	if c.fork {
		past[c.self]--
	}
}

// Received merges the stamp of a message that the program has received.
func (c *Clock) Received(stamp []byte) {
	past := c.past
	own := past[c.self] // which the stamp can't know better
	for i, n := range past {
		past[i] = max(n, binary.LittleEndian.Uint32(stamp[4*i:4*i+4]))
	}
	past[c.self] = own
}

// Count is how many sends of a rank are known to precede what this process does next.
func (c *Clock) Count(r proto.Rank) uint64 { return uint64(c.past[r]) }

// Counted is how many sends of a rank a stamp has: of that of a message of this rank, its own is
// the last.
func Counted(stamp []byte, r proto.Rank) uint64 {
	return uint64(binary.LittleEndian.Uint32(stamp[4*r:]))
}

// Ready tells whether this process has made the sends that precede a message, which is its stamp
// or ends with it.
func (c *Clock) Ready(message []byte) bool { return c.Sends(message) <= c.past[c.self] }

// Sends is how many sends of this process precede such a message.
func (c *Clock) Sends(message []byte) uint32 {
	at := len(message) - 4*(len(c.past)-int(c.self))
	return binary.LittleEndian.Uint32(message[at : at+4])
}
