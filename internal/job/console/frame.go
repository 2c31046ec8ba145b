package console

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"banyan/internal/varint"
)

// Version is the version of the protocol. Both sides must have the same one.
const Version = 2

const (
	// MaxFrame bounds a frame without its length, in bytes.
	MaxFrame = 64 << 10
	// MaxPiece bounds the bytes of output or input in a frame.
	MaxPiece = 32 << 10
	// maxFrom bounds the pieces of output in a frame.
	maxFrom = 1000
	// maxLost bounds what a frame says of bytes that aren't kept.
	maxLost = math.MaxInt32

	headSize = 4
)

// ErrCorrupt says that the other side has sent what it can't have meant.
var ErrCorrupt = errors.New("a frame makes no sense")

// Kind is a frame's kind. It says which fields the frame has.
type Kind uint8

const (
	Hello    Kind = 1 + iota // both sides, first: Number is the version
	Beat                     // both sides: nothing, but that the sender lives
	Refusal                  // from the launcher: Text; the connection ends
	Request                  // Text is the name, Data the question
	Progress                 // to a Request: Text
	Response                 // to a Request: Data is the answer, or Text says why there is none
	Attach                   // from a console: Data is an Attachment
	Welcome                  // to an Attach: Data is a Welcomed
	Shown                    // from a console, before Attach: Data says what of a stream it has, as positions
	Output                   // Data of a stream, which From says the places of; Offset is for Ack, Number bytes before it aren't kept
	Ack                      // from a console: the stream was shown up to Offset
	Input                    // from a console: Data from Offset on; End: the input ends behind it
	InputAck                 // the input has come up to Offset
	Signal                   // from a console: Number is the signal
	Started                  // all processes have started
	Exit                     // the job has ended, and all output was sent: Number is its exit code
	Done                     // from a console: Exit has come
	kinds
)

// Stream is one of a job's output streams, of all ranks together.
type Stream uint8

const (
	Stdout Stream = iota
	Stderr        // with what the launcher says
	streams
)

// String names the stream.
func (s Stream) String() string {
	if s == Stdout {
		return "stdout"
	}
	return "stderr"
}

// Frame is what one side sends to the other.
type Frame struct {
	Kind   Kind
	Stream Stream
	Offset int64 // bytes, from the beginning of the stream or of the input
	Number int
	End    bool
	Text   string
	Data   []byte
	From   []From
}

// From is where a piece of output is from. The pieces stand one after the other in Data.
type From struct {
	Source int   // the rank, or Launcher
	At     int64 // where the piece begins in that source's stream
	Length int
}

// Append appends the frame, with its length before it in four bytes.
func (f *Frame) Append(b []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, byte(f.Kind))
	end := uint64(0)
	if f.End {
		end = 1
	}
	b = varint.Append(b, uint64(f.Stream), uint64(f.Offset), uint64(f.Number), end)
	b = varint.AppendBytes(b, []byte(f.Text))
	b = varint.AppendBytes(b, f.Data)
	b = varint.Append(b, uint64(len(f.From)))
	for _, p := range f.From {
		b = varint.Append(b, uint64(p.Source-Launcher), uint64(p.At), uint64(p.Length))
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-headSize))
	return b
}

// Parse reads a frame without its length. Data is b's memory.
func Parse(b []byte) (f Frame, err error) {
	if len(b) == 0 || len(b) > MaxFrame {
		return f, fmt.Errorf("%w: it has %d bytes", ErrCorrupt, len(b))
	}
	r := varint.Read(b[1:])
	stream, offset, number, end := r.Uint(), r.Uint(), r.Uint(), r.Uint()
	text, data := r.Bytes(), r.Bytes()
	from, ok := readFrom(&r, len(data))
	if !ok || !r.Done() || stream >= uint64(streams) || offset > math.MaxInt64 || number > math.MaxInt32 || end > 1 {
		return f, ErrCorrupt
	}
	if b[0] == 0 || b[0] >= byte(kinds) {
		return f, fmt.Errorf("%w: there is no kind %d", ErrCorrupt, b[0])
	}
	f = Frame{Kind: Kind(b[0]), Stream: Stream(stream), Offset: int64(offset), Number: int(number), End: end == 1, Text: string(text), Data: data, From: from}
	if (f.Kind == Output || f.Kind == Input) && (len(f.Data) > MaxPiece || f.Offset > math.MaxInt64-MaxPiece) {
		return Frame{}, ErrCorrupt
	}
	if f.Kind != Output && from != nil || f.Kind == Output && len(data) > 0 && from == nil {
		return Frame{}, ErrCorrupt
	}
	return f, nil
}

// readFrom reads where the pieces of n bytes are from.
func readFrom(r *varint.Reader, n int) (from []From, ok bool) {
	count := r.Count()
	if count > maxFrom {
		return nil, false
	}
	for range count {
		source, at, length := r.Uint(), r.Uint(), r.Uint()
		if r.Failed() || source > maxSource || at > math.MaxInt64-MaxPiece || length == 0 || length > uint64(n) {
			return nil, false
		}
		n -= int(length)
		from = append(from, From{int(source) + Launcher, int64(at), int(length)})
	}
	return from, from == nil || n == 0
}
