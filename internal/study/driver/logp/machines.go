package logp

import "banyan/internal/proto"

// Machines are the protocol machines of all processes of a run. They get the events of one
// instant together, since an event costs less than a call.
type Machines interface {
	// Receive hands messages to their receivers, in this order.
	Receive(now proto.Time, messages []Message)
	// Send asks processes that could send for their next message, in this order, and appends
	// the messages to out, which has room for one of each. A process without a message is asked
	// again after its next receive, or at the deadline.
	Send(now proto.Time, processes []int32, out []Message) []Message
	// Deadline is a time after now at which all processes are asked again, or
	// proto.Never. It may change at every instant.
	Deadline(now proto.Time) proto.Time
	// KindName is a kind's name in traces.
	KindName(kind uint8) string
}

// Message is a message of a kind from a process to another, in 8 bytes.
type Message uint64

// NewMessage is a message between processes below [MaxProcs].
func NewMessage(from, to int, kind uint8) Message {
	return Message(from)<<32 | Message(to)<<8 | Message(kind)
}

// From is the sender.
func (m Message) From() int { return int(m >> 32) }

// To is the receiver.
func (m Message) To() int { return int(m >> 8 & (MaxProcs - 1)) }

// Kind is what the machines know the message as.
func (m Message) Kind() uint8 { return uint8(m) }

// Activity is what happened on a network.
type Activity struct {
	Messages   int        // sent, also to dead processes
	Lost       int        // of these, at dead processes
	Quiescence proto.Time // the end of the last receive, or arrival at a dead process
}
