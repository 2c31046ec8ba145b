package rma

import (
	"errors"

	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
	"banyan/internal/varint"
)

// verb says what a message asks of its target.
type verb uint8

const (
	put verb = iota
	get
	accumulate
	fetch         // and accumulate
	swap          // compare and swap: data is the origin's value, then the one to compare with
	flush         // the answer says that all before it is done
	posted        // the sender has exposed its part to this rank
	completed     // the sender's access epoch is over
	lockShared    // the answer is the lock
	lockExclusive // the same
	unlock        // the answer as of flush
	leave         // the sender ends, with the locks that it has
	verbs
)

// moves says that a message of a verb has an access.
func (v verb) moves() bool { return v <= swap }

// answers says that a message of a verb that moves data is answered by data.
func (v verb) answers() bool { return v == get || v == fetch || v == swap }

// place is memory of a target.
type place struct {
	disp  int64          // in bytes from the beginning of the part; the address in dynamic windows
	size  int64          // without a type: so many bytes in a row
	count int64          // of instances of the type
	typ   *datatype.Type // nil: the bytes lie in a row
}

// bytes is the number of bytes of data; false if that is too large.
func (p *place) bytes() (int64, bool) {
	if p.typ == nil {
		return p.size, p.size <= mostBytes
	}
	n, ok := p.typ.Bytes(p.count)
	return n, ok && n <= mostBytes
}

// span is the memory around the data, relative to the part.
func (p *place) span() (first, length int64) {
	if p.typ == nil {
		return p.disp, p.size
	}
	first, length = p.typ.Span(p.count)
	return first + p.disp, length
}

// mostBytes is more than the address space of a process holds.
const mostBytes = 1 << 47

// message is what an origin sends to a target.
type message struct {
	verb   verb
	answer int32 // the tag of the answer
	op     reduce.Op
	kind   datatype.Kind // of an accumulate's elements
	place
	data  []byte
	words words // of who accumulates by instructions

	deferred bool // at its origin: the target's program carries it out at its next fence
}

// errMessage is about bytes that are no message.
var errMessage = errors.New("no message of one-sided communication")

// append appends the message but for its data.
func (m *message) append(b []byte) []byte {
	b = varint.Append(b, uint64(m.verb), uint64(uint32(m.answer)))
	if !m.verb.moves() {
		return b
	}
	b = varint.Append(b, uint64(m.op), uint64(m.kind), uint64(m.disp))
	if m.typ == nil {
		return varint.Append(b, 0, uint64(m.size))
	}
	return m.typ.AppendDescription(varint.Append(b, 1, uint64(m.count)))
}

// read reads a message. Its data is memory of b.
func (m *message) read(b []byte) error {
	r := varint.Read(b)
	v, answer := r.Uint(), r.Uint()
	if v >= uint64(verbs) || answer > 1<<31-1 {
		return errMessage
	}
	*m = message{}
	m.verb, m.answer = verb(v), int32(answer)
	if !m.verb.moves() {
		if !r.Done() {
			return errMessage
		}
		return nil
	}
	op, kind := r.Uint(), r.Uint()
	if op > uint64(reduce.NoOp) || kind >= uint64(datatype.Kinds) {
		return errMessage
	}
	m.op, m.kind, m.disp = reduce.Op(op), datatype.Kind(kind), int64(r.Uint())
	switch r.Uint() {
	case 0:
		m.size = int64(r.Uint())
	case 1:
		m.count = int64(r.Uint())
		typ, err := datatype.ReadDescription(&r)
		if err != nil {
			return errMessage
		}
		m.typ = typ
	default:
		return errMessage
	}
	m.data = r.Rest()
	if r.Failed() || m.size < 0 || m.count < 0 {
		return errMessage
	}
	return m.check()
}

// check says whether the data of a message that was read fits the rest of it.
func (m *message) check() error {
	n, ok := m.bytes()
	if !ok {
		return errMessage
	}
	has, each := int64(len(m.data)), int64(1)
	if m.verb >= accumulate {
		each = m.kind.Size()
		if each == 0 || n%each != 0 || m.verb != swap && reduce.For(m.op, m.kind) == nil {
			return errMessage
		}
	}
	switch m.verb {
	case get:
		ok = has == 0
	case put, accumulate:
		ok = has == n
	case fetch:
		ok = has == n || has == 0 && m.op == reduce.NoOp
	case swap:
		ok = n == each && has == 2*n
	}
	if !ok {
		return errMessage
	}
	return nil
}
