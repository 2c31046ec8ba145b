package order

import (
	"errors"

	"banyan/internal/varint"
)

// Kind says what a Message says.
type Kind uint8

// Kinds of messages.
const (
	// Decided, from the leader: Records are decisions, the first of which has the number
	// First.
	Decided Kind = iota + 1
	// Known: the sender knows all decisions below First.
	Known
	// Claim, from a substitute: the leader before it is dead, and it knows all decisions
	// below First. It wants to know those that it lacks.
	Claim
	// Tail answers a Claim, as Decided would, with all that the substitute lacks. Without
	// Records the sender knows all decisions below First, and no others.
	Tail
)

func (k Kind) String() string {
	switch k {
	case Decided:
		return "decided"
	case Known:
		return "known"
	case Claim:
		return "claim"
	case Tail:
		return "tail"
	}
	return "nothing"
}

// Message is what replicas of a rank tell each other.
type Message struct {
	Kind    Kind
	First   uint64
	Term    Term     // Known: of the last leader that the sender has followed
	Records [][]byte // Decided, Tail; the machine keeps them
}

// ErrMessage is what ParseMessage returns for bytes that AppendMessage didn't write.
var ErrMessage = errors.New("order: no message between replicas")

// AppendMessage appends a message as it travels.
func AppendMessage(b []byte, m Message) []byte {
	b = varint.Append(b, uint64(m.Kind), m.First, uint64(m.Term), uint64(len(m.Records)))
	for _, r := range m.Records {
		b = varint.AppendBytes(b, r)
	}
	return b
}

// ParseMessage reads a message. Its records are copies.
func ParseMessage(b []byte) (m Message, err error) {
	r := varint.Read(b)
	kind := r.Uint()
	m.First, m.Term = r.Uint(), Term(r.Uint())
	for range r.Count() {
		m.Records = append(m.Records, append([]byte(nil), r.Bytes()...))
	}
	if !r.Done() || kind < uint64(Decided) || kind > uint64(Tail) || m.First == 0 {
		return Message{}, ErrMessage
	}
	m.Kind = Kind(kind)
	return m, nil
}

// Action asks the driver to send a Message to another replica of the rank.
type Action struct {
	To int
	Message
}

// Actions is a caller-owned output to which the machine appends.
type Actions []Action
