package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Kind says what an Event is.
type Kind uint8

// Kinds of events.
const (
	Send       Kind = iota + 1 // a point-to-point send
	Collective                 // a rank's part in a collective
	Receive                    // the program learns the outcome of a receive
	End                        // the program has ended: no call follows
	text                       // in a file only: the next string that events refer to
	data                       // in a file only: the data of the next event
)

// Event is what a rank did.
type Event struct {
	Kind    Kind
	Op      string // "Send", "Allreduce"…; not of a Receive
	Where   string // the call site in the program, if known
	Context uint64 // of the communicator
	Peer    int32  // destination, root (-1: none) or source, by rank in the communicator
	Tag     int32
	// AnySource and AnyTag are the wildcards of a Receive.
	AnySource, AnyTag bool
	Bytes             uint64
	Shape             uint32 // digest of the blocks' lengths
	Payload           uint32 // digest of the bytes
	Time              int64  // nanoseconds of CLOCK_MONOTONIC
}

// recordSize is the length of an event in a file. A string follows its own record.
const recordSize = 48

const (
	anySource = 1 << iota
	anyTag
)

// maxString bounds a string, which is a function's name or a call site.
const maxString = 4 << 10

// ErrCorrupt says that a file holds no events.
var ErrCorrupt = errors.New("check: corrupt record")

// stringTable numbers the strings of a file in the order in which they come. 0 is the empty string.
type stringTable struct {
	numbers map[string]uint16
	list    []string
	data    []byte // of the event that was decoded last, if it was recorded
}

// appendEvent appends an event, and before it the strings that are new.
func (t *stringTable) appendEvent(b []byte, e *Event) []byte {
	b, op := t.appendString(b, e.Op)
	b, where := t.appendString(b, e.Where)
	flags := byte(0)
	if e.AnySource {
		flags |= anySource
	}
	if e.AnyTag {
		flags |= anyTag
	}
	b = append(b, byte(e.Kind), flags)
	b = binary.LittleEndian.AppendUint16(b, op)
	b = binary.LittleEndian.AppendUint16(b, where)
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Peer))
	b = binary.LittleEndian.AppendUint32(b, uint32(e.Tag))
	b = binary.LittleEndian.AppendUint64(b, e.Context)
	b = binary.LittleEndian.AppendUint64(b, e.Bytes)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.Time))
	b = binary.LittleEndian.AppendUint32(b, e.Shape)
	return binary.LittleEndian.AppendUint32(b, e.Payload)
}

// appendData appends the data of the event that follows, unless it is nil.
func appendData(b, bytes []byte) []byte {
	if len(bytes) == 0 {
		return b
	}
	record := [recordSize]byte{0: byte(data)}
	binary.LittleEndian.PutUint64(record[24:], uint64(len(bytes)))
	return append(append(b, record[:]...), bytes...)
}

func (t *stringTable) appendString(b []byte, s string) ([]byte, uint16) {
	if s == "" || len(s) > maxString {
		return b, 0
	}
	n, known := t.numbers[s]
	if known || len(t.numbers) == 1<<16-1 {
		return b, n
	}
	if t.numbers == nil {
		t.numbers = make(map[string]uint16)
	}
	n = uint16(len(t.numbers) + 1)
	t.numbers[s] = n
	record := [recordSize]byte{0: byte(text)}
	binary.LittleEndian.PutUint64(record[24:], uint64(len(s)))
	return append(append(b, record[:]...), s...), n
}

// decode reads the event at the start of b and returns its length, 0 if more bytes are needed. A
// string comes with the first event that refers to it.
func (t *stringTable) decode(b []byte, e *Event) (length int, err error) {
	known := len(t.list)
	t.data = nil
	for {
		if len(b)-length < recordSize {
			t.list = t.list[:known]
			return 0, nil
		}
		r := b[length : length+recordSize]
		kind, limit := Kind(r[0]), uint64(maxString)
		if kind == data {
			limit = lookBytes
		} else if kind != text {
			return length + recordSize, t.decodeRecord(r, e)
		}
		n := binary.LittleEndian.Uint64(r[24:])
		switch {
		case n == 0 || n > limit || len(t.list) == 1<<16-1:
			return 0, fmt.Errorf("%w: a string of %d bytes", ErrCorrupt, n)
		case len(b)-length < recordSize+int(n):
			t.list = t.list[:known]
			return 0, nil
		}
		at := length + recordSize
		length = at + int(n)
		if kind == data {
			t.data = slices.Clone(b[at:length])
		} else {
			t.list = append(t.list, string(b[at:length]))
		}
	}
}

func (t *stringTable) decodeRecord(r []byte, e *Event) error {
	*e = Event{
		Kind: Kind(r[0]), AnySource: r[1]&anySource != 0, AnyTag: r[1]&anyTag != 0,
		Peer: int32(binary.LittleEndian.Uint32(r[8:])), Tag: int32(binary.LittleEndian.Uint32(r[12:])),
		Context: binary.LittleEndian.Uint64(r[16:]), Bytes: binary.LittleEndian.Uint64(r[24:]),
		Time: int64(binary.LittleEndian.Uint64(r[32:])), Shape: binary.LittleEndian.Uint32(r[40:]),
		Payload: binary.LittleEndian.Uint32(r[44:]),
	}
	if e.Kind < Send || e.Kind > End {
		return fmt.Errorf("%w: kind %d", ErrCorrupt, r[0])
	}
	op, where := int(binary.LittleEndian.Uint16(r[2:])), int(binary.LittleEndian.Uint16(r[4:]))
	if n := max(op, where); n > len(t.list) {
		return fmt.Errorf("%w: string %d of %d", ErrCorrupt, n, len(t.list))
	}
	e.Op, e.Where = t.string(op), t.string(where)
	return nil
}

func (w *stringTable) string(n int) string {
	if n == 0 {
		return ""
	}
	return w.list[n-1]
}

// castagnoli is the table of the polynomial for which processors have an instruction. It is made
// when it is first asked for.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// digest adds the data of a call to its digests.
func (e *Event) digest(parts [][]byte) {
	var length [8]byte
	for _, p := range parts {
		e.Bytes += uint64(len(p))
		e.Payload = crc32.Update(e.Payload, castagnoli(), p)
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		e.Shape = crc32.Update(e.Shape, castagnoli(), length[:])
	}
}
