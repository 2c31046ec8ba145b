package agreement

import (
	"encoding/binary"
	"errors"
	"fmt"

	"banyan/internal/varint"
)

// Kind is what a message is for.
type Kind uint8

// Kinds of messages.
const (
	// KindContribution goes up the tree: all below the sender have contributed, but the missing,
	// and this is their contributions together.
	KindContribution Kind = iota + 1
	// KindAccepted goes up the tree in place of a contribution after the root has died: a member
	// at or below the sender has accepted this decision, under the root Accepted.
	KindAccepted
	// KindDecision goes down the tree.
	KindDecision
	// KindHeld goes up the tree: all at and below the sender have closed the communicator, and
	// have all decisions.
	KindHeld
	// KindAsk goes down the tree: the sender has closed, and waits for KindHeld.
	KindAsk
	// KindForget goes down the tree: all live members have closed the communicator.
	KindForget
	// KindAbsent answers a message for a communicator that isn't open here.
	KindAbsent
	// KindThrough answers one at a process whose program has come to its end: the communicator
	// will never be open here.
	KindThrough
	// KindPrompt goes down the tree, and to the root: the sender has entered the agreement, and
	// waits for the receiver, which may have left.
	KindPrompt
)

var kinds = [...]string{KindContribution: "contribution", KindAccepted: "accepted", KindDecision: "decision",
	KindHeld: "held", KindAsk: "ask", KindForget: "forget", KindAbsent: "absent", KindThrough: "through", KindPrompt: "prompt"}

func (k Kind) String() string {
	if k >= KindContribution && int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// bare tells whether a message has nothing but its kind.
func (k Kind) bare() bool { return k >= KindHeld && k <= KindThrough }

// Value is what members agree on.
type Value struct {
	// Flags is the bitwise AND of the contributions' flags.
	Flags uint64
	// Missing are the members whose contributions aren't in the value. All of them are dead or have
	// left.
	Missing Set
	// Failed are the members that a contributor knew to be dead.
	Failed Set
	// Left are the live ones whose programs have come to their end without this agreement. All of
	// Missing is among Failed and Left.
	Left Set
	// Acknowledged are the members whose deaths every contributor had acknowledged.
	Acknowledged Set
	// Payload is the contributions' payloads, put together by Config.Combine.
	Payload []byte
}

// Unacknowledged are those members whose contributions are missing and whose death at least one
// contributor hadn't acknowledged: if there are any, the agreement ends with PROC_FAILED.
func (v *Value) Unacknowledged() Set { return v.Missing.Minus(v.Acknowledged) }

// Message is what one member tells another of the same communicator.
type Message struct {
	Kind   Kind
	Number uint64 // of the agreement, of the first three kinds and of KindPrompt
	// Root is the lowest live member, for all the sender knows. Up the tree it is also a promise:
	// the sender accepts no decision of a lower root any more.
	Root     int32
	Accepted int32 // of KindAccepted: the root under which the decision was accepted

	// Decided, up the tree, is a number up to which all at and below the sender have all
	// decisions.
	Decided uint64
	// Stable is a number up to which every live member has all decisions.
	Stable uint64

	Value Value
}

// Opens tells what a driver does with a message for a communicator that isn't open here. If Opens
// is true it is one that may be opened: the driver keeps the message until then, or until the
// program has come to its end, and then answers with KindThrough. If not, the driver answers with
// KindAbsent, unless that or KindPrompt is what came.
func (m *Message) Opens() bool { return m.Kind == KindContribution && m.Decided == 0 }

// Waits tells whether the sender of a message waits for the receiver in an agreement. After the end
// of the program the driver answers it with KindThrough if the communicator isn't open here.
func (m *Message) Waits() bool {
	return m.Kind == KindContribution || m.Kind == KindAccepted || m.Kind == KindPrompt
}

var errMessage = errors.New("agreement: a malformed message")

// Bits of the second byte: which sets and payload follow.
const (
	hasMissing = 1 << iota
	hasFailed
	hasAcknowledged
	hasPayload
	hasLeft
	hasAll = 1<<iota - 1
)

// Append writes the message down.
func (m *Message) Append(b []byte) []byte {
	if m.Kind.bare() {
		return append(b, byte(m.Kind))
	}
	v := &m.Value
	has := byte(0)
	for i, s := range [...]Set{v.Missing, v.Failed, v.Acknowledged} {
		if !s.Empty() {
			has |= 1 << i
		}
	}
	if len(v.Payload) > 0 {
		has |= hasPayload
	}
	if !v.Left.Empty() {
		has |= hasLeft
	}
	b = append(b, byte(m.Kind), has)
	b = varint.Append(b, m.Number, uint64(uint32(m.Root)), uint64(uint32(m.Accepted)), m.Decided, m.Stable, v.Flags)
	for _, s := range [...]Set{v.Missing, v.Failed, v.Acknowledged, v.Left} {
		if !s.Empty() {
			b = varint.Append(b, uint64(len(s)))
			for _, w := range s {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
		}
	}
	if len(v.Payload) > 0 {
		b = append(b, v.Payload...)
	}
	return b
}

// Parse reads a message of a communicator with so many members. The payload is b's memory.
func Parse(b []byte, members int) (Message, error) {
	var m Message
	if len(b) == 0 || Kind(b[0]) < KindContribution || Kind(b[0]) > KindPrompt {
		return m, errMessage
	}
	m.Kind = Kind(b[0])
	if m.Kind.bare() {
		if len(b) > 1 {
			return m, errMessage
		}
		return m, nil
	}
	if len(b) < 2 || b[1]&^hasAll != 0 {
		return m, errMessage
	}
	has := b[1]
	r := reader{rest: b[2:]}
	m.Number = r.uint()
	root, accepted := r.uint(), r.uint()
	m.Decided, m.Stable, m.Value.Flags = r.uint(), r.uint(), r.uint()
	m.Value.Missing = r.set(has&hasMissing != 0, members)
	m.Value.Failed = r.set(has&hasFailed != 0, members)
	m.Value.Acknowledged = r.set(has&hasAcknowledged != 0, members)
	m.Value.Left = r.set(has&hasLeft != 0, members)
	if has&hasPayload != 0 {
		m.Value.Payload, r.rest = r.rest, nil
		r.failed = r.failed || len(m.Value.Payload) == 0
	}
	if r.failed || len(r.rest) > 0 || root >= uint64(members) || accepted >= uint64(members) || m.Number == 0 ||
		m.Kind != KindAccepted && accepted != 0 {
		return m, errMessage
	}
	m.Root, m.Accepted = int32(root), int32(accepted)
	return m, nil
}

// reader reads what Append wrote.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) set(here bool, members int) Set {
	if !here {
		return nil
	}
	words := r.uint()
	if r.failed || words == 0 || words > uint64(members+63)/64 || uint64(len(r.rest)) < 8*words {
		r.failed = true
		return nil
	}
	s := make(Set, words)
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(r.rest[8*i:])
	}
	r.rest = r.rest[8*words:]
	if s[len(s)-1] == 0 || s.limit() > members {
		r.failed = true
	}
	return s
}
