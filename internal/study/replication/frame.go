package replication

import (
	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
)

// kind says what a frame is.
type kind uint8

const (
	eager    kind = iota + 1 // a message
	offer                    // of a message that is too large to be sent unasked
	pull                     // the answer: the data is wanted
	data                     // all of it
	ack                      // the first record of acknowledgement of a frame
	ackMore                  // another one of the same frame
	report                   // how much a program has received (mirror)
	note                     // of the conversation about a replacement
	state                    // of a donor, all of it
	healed                   // the answer: the replacement's program goes on
	news                     // of a death, from outside of the network
	help                     // likewise: a replacement waits for a donor
	declined                 // likewise: the donor is through with its program
	handed                   // likewise: it has sent its state
	joined                   // likewise: the replacement's program goes on
)

// body is what a frame carries, beside the bytes that only its size tells of.
type body struct {
	kind       kind
	single     bool
	collective bool
	tag        int32
	id         uint32 // of an offer at its sender; pull and data: see there; else the process that it is about
	receiver   uint32 // pull and data: the arrival at the receiver; else that process's incarnation
	seq        uint64
	total      uint64
	stamp      []byte // nil unless causality is simulated
}

type frame = loggp.Frame[body]
type port = loggp.Port[body]

// Sizes on the wire in bytes, as in package wire; a test compares them.
const (
	headerSize   = 64
	ackSize      = 24
	stampEntry   = 4         // of a causal stamp, for each rank
	fragmentSize = 512 << 10 // of the data of a large message in one frame
	acksPerFrame = 2048 / ackSize
)

// Class implements loggp.Body. Messages that are sent whole and acknowledgements are answered by
// nothing, as a rule (patience).
func (b body) Class() loggp.Class {
	switch b.kind {
	case eager:
		return loggp.Patient
	case ack, ackMore:
		return loggp.Quiet
	case news, help, declined, handed, joined:
		return loggp.Urgent
	}
	return loggp.Prompt
}

// context is the number of the context of a message.
func (b *body) context() uint64 { return contextOf(b.collective) }

func contextOf(collective bool) uint64 {
	if collective {
		return 3
	}
	return 2
}

// isCollective is its inverse.
func isCollective(context uint64) bool { return context == 3 }

// fragments is how many frames carry so many bytes of data.
func fragments(bytes uint64) proto.Time {
	return proto.Time(max(1, (bytes+fragmentSize-1)/fragmentSize))
}
