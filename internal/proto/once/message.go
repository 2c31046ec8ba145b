package once

import (
	"errors"

	"banyan/internal/varint"
)

// Kind says what a Message says.
type Kind uint8

// Kinds of messages.
const (
	// ResultIs says what came of a thing.
	ResultIs Kind = iota + 1
	// Known says that the sender knows that.
	Known
	// Claim, from a substitute: the performers before it are dead, and it wants to know
	// what it lacks.
	Claim
	// Claimed answers a Claim, behind the results that the sender knows.
	Claimed
)

// Message is what replicas of a rank tell each other.
type Message struct {
	Kind   Kind
	Key    Key    // ResultIs, Known
	Result Result // ResultIs
}

// ErrMessage is what ParseMessage returns for bytes that AppendMessage didn't write.
var ErrMessage = errors.New("once: no message between replicas")

// heavy is added to the kind of a ResultIs with a heavy result.
const heavy = 1 << 3

// AppendMessage appends a message as it travels, but for the data of a result, which is the rest.
func AppendMessage(b []byte, m Message) []byte {
	kind := uint64(m.Kind)
	if m.Result.Heavy {
		kind |= heavy
	}
	return varint.Append(b, kind, m.Key.Stream, m.Key.Op, m.Key.Step, uint64(len(m.Result.Data)))
}

// ParseMessage reads what AppendMessage has written, with data behind it. The data isn't copied.
func ParseMessage(head, data []byte) (m Message, err error) {
	r := varint.Read(head)
	kind := r.Uint()
	m.Result.Heavy, m.Kind = kind&heavy != 0, Kind(kind&^heavy)
	m.Key = Key{r.Uint(), r.Uint(), r.Uint()}
	size := r.Uint()
	if !r.Done() || kind&^heavy < uint64(ResultIs) || kind&^heavy > uint64(Claimed) || size != uint64(len(data)) ||
		m.Kind != ResultIs && (m.Result.Heavy || size > 0) || m.Kind > Known && m.Key != (Key{}) {
		return Message{}, ErrMessage
	}
	m.Result.Data = data
	return m, nil
}

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions.
const (
	// Send sends the message to another replica of the rank.
	Send ActionKind = iota + 1
	// Perform does what the message's Key names, once, and says Performed.
	Perform
	// Return gives the program the result for which it waits.
	Return
)

// Action is one thing to do.
type Action struct {
	Kind ActionKind
	To   int // of Send
	Message
	Again bool // of Perform: a replica that has died may have begun it
}

// Actions is a caller-owned output to which the machine appends.
type Actions []Action

func (a *Actions) send(to int, m Message) { *a = append(*a, Action{Kind: Send, To: to, Message: m}) }
