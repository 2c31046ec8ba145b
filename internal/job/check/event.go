package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Kind says what an Event is.
type Kind uint8

// Kinds of events.
const (
	Send       Kind = iota + 1 // a point-to-point send
	Collective                 // a rank's part in a collective
	Receive                    // the outcome of a receive is told to the program
	End                        // the program is through: no call follows
	text                       // in a file only: the next word that events refer to
)

// Event is what a rank did.
type Event struct {
	Kind    Kind
	Op      string // "Send", "Allreduce"…; not of a Receive
	Where   string // the place in the program, if known
	Context uint64 // of the communicator
	Peer    int32  // destination, root (-1: none) or source, by rank in the communicator
	Tag     int32
	// AnySource and AnyTag say, of a Receive, that another message could have come.
	AnySource, AnyTag bool
	Bytes             uint64
	Shape             uint32 // digest of the lengths, where several blocks are given
	Payload           uint32 // digest of the bytes given
	Time              int64  // nanoseconds of CLOCK_MONOTONIC
}

// recordSize is the length of an event in a file. A word follows its own record.
const recordSize = 48

const (
	anySource = 1 << iota
	anyTag
)

// maxWord bounds a word, which is a function's name or a place.
const maxWord = 4 << 10

// ErrCorrupt says that a file holds no events.
var ErrCorrupt = errors.New("determinism: corrupt record")

// words numbers the words of a file in the order in which they come; 0 is none.
type words struct {
	numbers map[string]uint16
	list    []string
}

// appendEvent appends an event, and before it the words that are new.
func (w *words) appendEvent(b []byte, e *Event) []byte {
	b, op := w.appendWord(b, e.Op)
	b, where := w.appendWord(b, e.Where)
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

func (w *words) appendWord(b []byte, word string) ([]byte, uint16) {
	if word == "" || len(word) > maxWord {
		return b, 0
	}
	n, known := w.numbers[word]
	if known || len(w.numbers) == 1<<16-1 {
		return b, n
	}
	if w.numbers == nil {
		w.numbers = make(map[string]uint16)
	}
	n = uint16(len(w.numbers) + 1)
	w.numbers[word] = n
	record := [recordSize]byte{0: byte(text)}
	binary.LittleEndian.PutUint64(record[24:], uint64(len(word)))
	return append(append(b, record[:]...), word...), n
}

// decode reads the event at the start of b, and says how long it is; 0 if more bytes are
// needed. Words come with the first event that refers to them.
func (w *words) decode(b []byte, e *Event) (length int, err error) {
	known := len(w.list)
	for {
		if len(b)-length < recordSize {
			w.list = w.list[:known]
			return 0, nil
		}
		r := b[length : length+recordSize]
		if Kind(r[0]) != text {
			return length + recordSize, w.decodeRecord(r, e)
		}
		n := binary.LittleEndian.Uint64(r[24:])
		switch {
		case n == 0 || n > maxWord || len(w.list) == 1<<16-1:
			return 0, fmt.Errorf("%w: a word of %d bytes", ErrCorrupt, n)
		case len(b)-length < recordSize+int(n):
			w.list = w.list[:known]
			return 0, nil
		}
		at := length + recordSize
		w.list = append(w.list, string(b[at:at+int(n)]))
		length = at + int(n)
	}
}

func (w *words) decodeRecord(r []byte, e *Event) error {
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
	if n := max(op, where); n > len(w.list) {
		return fmt.Errorf("%w: word %d of %d", ErrCorrupt, n, len(w.list))
	}
	e.Op, e.Where = w.word(op), w.word(where)
	return nil
}

func (w *words) word(n int) string {
	if n == 0 {
		return ""
	}
	return w.list[n-1]
}

// castagnoli is the polynomial that processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// digest notes what a call gives.
func (e *Event) digest(parts [][]byte) {
	var length [8]byte
	for _, p := range parts {
		e.Bytes += uint64(len(p))
		e.Payload = crc32.Update(e.Payload, castagnoli, p)
		binary.LittleEndian.PutUint64(length[:], uint64(len(p)))
		e.Shape = crc32.Update(e.Shape, castagnoli, length[:])
	}
}
