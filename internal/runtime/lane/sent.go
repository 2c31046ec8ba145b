package lane

import (
	"sync/atomic"

	"banyan/internal/proto"
)

// A send that has ended within its call needs no object, and no place in a table: its request's
// handle only says that. But the program may want the message back (MPI_Cancel), so the handle has
// the number of the send, and the message has it too. Here is to whom each of the last sends went:
// older ones can't be cancelled.

// Kind is the kind of the handles that C knows, their low four bits: of receives that have notes,
// and of operations that have ended within their calls. No table has it.
const Kind = 12

// Sent is the handle of a request that has ended within its call. That of a numbered send has the
// low bits of its number, from bit 4 on.
const (
	Sent       = 1<<30 | Kind
	numberMask = 1<<26 - 1
)

// NoProc is the handle of every receive from MPI_PROC_NULL. The handles of notes are lower.
const NoProc = (1<<20-1)<<4 | Kind

// Numbers is how many sends are known. It is a power of two.
const Numbers = 1024

// sends are those that have a number.
type sends struct {
	last      uint32        // the number given last; 0 is none
	Cancelled atomic.Uint32 // how many are being cancelled: then C leaves the requests of sends to Go
}

// IsSent says whether a handle is one of an operation that has ended within its call.
func IsSent(handle uint64) bool { return handle&^(numberMask<<4) == Sent }

// SentOf is the handle of a send by its number.
func SentOf(number uint32) uint64 { return Sent | uint64(number&numberMask)<<4 }

// Number gives a send its number.
func (m *Memory) Number(dst proto.Rank) uint32 {
	m.Sends.last++
	m.destinations[m.Sends.last%Numbers] = int32(dst)
	return m.Sends.last
}

// Destination is the number of the send that a handle is about, and to which rank of the world it
// went; ok is false if too many have been sent since, or the send has none.
func (m *Memory) Destination(handle uint64) (dst proto.Rank, number uint32, ok bool) {
	low := uint32(handle>>4) & numberMask
	since := (m.Sends.last - low) & numberMask
	number = m.Sends.last - since
	if !IsSent(handle) || low == 0 || number == 0 || since >= Numbers {
		return 0, 0, false
	}
	return proto.Rank(m.destinations[number%Numbers]), number, true
}
