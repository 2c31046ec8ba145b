// Package wire is what a launcher and the agent of another host say to each other: frames on their
// connection, and messages in the streams that frames carry.
//
// # Frames
//
// A frame is its length in four bytes, its kind in one, and its fields as package varint has them.
//
//	Hello, Welcome, Refusal   the beginning of a connection: Greeting as JSON
//	Resume                    which bytes of the streams have come: Entries
//	Data, Ack                 bytes of a stream from an offset on; how many were passed on
//	Ask, Grant                the agent's lease (package lease)
//
// Package link carries the streams. Each process has some, by Stream; the stream Control, of no
// process, carries a Message after the other.
//
// # Invariants
//
//   - What Append wrote, a Reader reads.
//   - A Reader never panics, whatever it reads, and holds at most one frame, of MaxFrame bytes.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"banyan/internal/job/agent/lease"
	"banyan/internal/proto"
	"banyan/internal/varint"
)

// Version is the version of the protocol: of frames, messages and what they mean.
const Version = 1

const (
	// MaxFrame bounds a frame's kind and fields in bytes.
	MaxFrame = 64 << 10
	// MaxData bounds the bytes of a stream in a frame.
	MaxData = 32 << 10
	// MaxEntries bounds the entries of a Resume. More need several.
	MaxEntries = 1 << 10

	headSize = 4
)

// ErrCorrupt says that the other side has sent what it can't have meant.
var ErrCorrupt = errors.New("a frame makes no sense")

// Kind is a frame's kind.
type Kind uint8

const (
	Hello   Kind = 1 + iota // from the agent: Data
	Welcome                 // from the launcher: Data
	Refusal                 // from either: Data
	Resume                  // Entries, and More if another Resume follows
	Data                    // Stream, Offset, Data, End
	Ack                     // Entry
	Ask                     // Lease
	Grant                   // Lease
)

// Channel says which stream of a process is meant.
type Channel uint8

const (
	Control  Channel = iota // messages of launcher and agent, of no process
	Lifeline                // package control
	PMI
	Stdin
	Stdout
	Stderr
	Trace // what a process records
	Part  // of a snapshot: its Incarnation is the number of a question
	Shown // how the job is, of no process: see Show
	channels
)

// Stream names a stream in one direction.
type Stream struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
	Channel     Channel
}

func (s Stream) String() string {
	name := [...]string{"control", "lifeline", "PMI", "stdin", "stdout", "stderr", "trace", "part", "shown"}[s.Channel]
	if s.Channel == Control || s.Channel == Shown {
		return name
	}
	return fmt.Sprintf("%s of %v in incarnation %d", name, s.Proc, s.Incarnation)
}

// Entry says how far the receiver of a stream has come. The end of a stream counts as a byte.
type Entry struct {
	Stream Stream
	Come   uint64 // bytes that have come
	Passed uint64 // bytes of them that were passed on
	Closed bool   // it wants no more
}

// Frame is any frame. Its kind says which fields it has.
type Frame struct {
	Kind    Kind
	Stream  Stream
	Offset  uint64
	Data    []byte // of the Reader, until its next Read
	End     bool   // the stream ends after Data
	Entry   Entry
	Entries []Entry
	More    bool
	Ask     lease.Request
	Grant   lease.Grant
}

// Append appends a frame to b, and returns it all.
func Append(b []byte, f *Frame) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, byte(f.Kind))
	switch f.Kind {
	case Hello, Welcome, Refusal:
		b = append(b, f.Data...)
	case Resume:
		b = varint.Append(b, flag(f.More), uint64(len(f.Entries)))
		for _, e := range f.Entries {
			b = appendEntry(b, e)
		}
	case Data:
		b = varint.AppendBytes(varint.Append(appendStream(b, f.Stream), f.Offset, flag(f.End)), f.Data)
	case Ack:
		b = appendEntry(b, f.Entry)
	case Ask:
		b = varint.Append(b, uint64(f.Ask.At), uint64(f.Ask.Has))
	case Grant:
		b = varint.Append(b, uint64(f.Grant.At), uint64(f.Grant.Length))
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-headSize))
	return b
}

func appendStream(b []byte, s Stream) []byte {
	return varint.Append(b, uint64(s.Channel), uint64(uint32(s.Proc)), uint64(s.Incarnation))
}

func appendEntry(b []byte, e Entry) []byte {
	return varint.Append(appendStream(b, e.Stream), e.Come, e.Passed, flag(e.Closed))
}

func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// Reader reads frames.
type Reader struct {
	from *bufio.Reader
	body []byte
	f    Frame
}

// NewReader makes a Reader.
func NewReader(r io.Reader) *Reader { return &Reader{from: bufio.NewReaderSize(r, 32<<10)} }

// Read reads a frame. It is valid until the next Read.
func (r *Reader) Read() (*Frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 1 || size > MaxFrame {
		return nil, fmt.Errorf("%w: its length is %d", ErrCorrupt, size)
	}
	if cap(r.body) < int(size) {
		r.body = make([]byte, size)
	}
	r.body = r.body[:size]
	if _, err := io.ReadFull(r.from, r.body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return &r.f, r.decode(r.body)
}

// decode reads what follows a frame's length.
func (r *Reader) decode(b []byte) error {
	f := &r.f
	*f = Frame{Kind: Kind(b[0]), Entries: f.Entries[:0]}
	if f.Kind >= Hello && f.Kind <= Refusal {
		f.Data = b[1:]
		return nil
	}
	v := varint.Read(b[1:])
	switch f.Kind {
	case Resume:
		f.More = readFlag(&v)
		n := v.Count()
		if n > MaxEntries {
			v.Fail()
			n = 0
		}
		for range n {
			f.Entries = append(f.Entries, readEntry(&v))
		}
	case Data:
		f.Stream, f.Offset, f.End = readStream(&v), v.Uint(), readFlag(&v)
		f.Data = v.Bytes()
		if len(f.Data) > MaxData || f.Offset > 1<<62 {
			v.Fail()
		}
	case Ack:
		f.Entry = readEntry(&v)
	case Ask:
		f.Ask = lease.Request{At: readTime(&v), Has: readTime(&v)}
	case Grant:
		f.Grant = lease.Grant{At: readTime(&v), Length: readTime(&v)}
	default:
		return fmt.Errorf("%w: its kind is %d", ErrCorrupt, f.Kind)
	}
	if !v.Done() {
		return fmt.Errorf("%w: its kind is %d", ErrCorrupt, f.Kind)
	}
	return nil
}

func readFlag(v *varint.Reader) bool {
	n := v.Uint()
	if n > 1 {
		v.Fail()
	}
	return n == 1
}

func readTime(v *varint.Reader) proto.Time {
	n := v.Uint()
	if n > 1<<62 {
		v.Fail()
		return 0
	}
	return proto.Time(n)
}

func readStream(v *varint.Reader) Stream {
	channel, proc, incarnation := v.Uint(), v.Uint(), v.Uint()
	if channel >= uint64(channels) || proc > 1<<31-1 || incarnation > 1<<32-1 {
		v.Fail()
		return Stream{}
	}
	return Stream{proto.Proc(proc), proto.Incarnation(incarnation), Channel(channel)}
}

func readEntry(v *varint.Reader) Entry {
	e := Entry{readStream(v), v.Uint(), v.Uint(), readFlag(v)}
	if e.Passed > e.Come {
		v.Fail()
	}
	return e
}
