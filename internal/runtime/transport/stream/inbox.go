package stream

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// maxStash is more than an Inbox ever keeps between two reads, which is at most a header and a
// small payload, less one byte.
const maxStash = wire.HeaderSize + transport.DirectSize

// Buffer takes the bytes that are read before an Inbox takes them apart. One Buffer serves all
// Inboxes of a transport, one after the other.
type Buffer struct{ mem []byte }

// NewBuffer returns a Buffer that takes size bytes a read.
func NewBuffer(size int) *Buffer { return &Buffer{make([]byte, maxStash+size)} }

// Inbox takes one peer's stream apart. The zero value is ready.
type Inbox struct {
	header  wire.Header // of the present frame
	large   bool        // a payload above DirectSize is arriving
	missing int         // how many of its bytes haven't arrived
	dest    []byte      // where they go; nil: they are dropped
	stash   []byte      // the beginning of a frame whose end hasn't arrived
	stopped bool
}

// Space returns where the next bytes of the stream go: first into direct, until that is full,
// then into rest. The next call on any Inbox of this Buffer must be Take.
func (in *Inbox) Space(b *Buffer) (direct, rest []byte) {
	copy(b.mem[maxStash-len(in.stash):], in.stash)
	if in.large && in.dest != nil {
		return in.dest, b.mem[maxStash:]
	}
	return nil, b.mem[maxStash:]
}

// Large says whether a large payload is arriving.
func (in *Inbox) Large() bool { return in.large }

// Take takes in n bytes that were read to where Space said. It hands the frames that they
// complete to sink, and returns how many there were. After an error, which wraps wire.ErrCorrupt,
// the stream can't be used any more. Sink's methods may Stop the Inbox.
func (in *Inbox) Take(from proto.Proc, b *Buffer, n int, sink transport.Sink) (frames int, err error) {
	if in.large && in.dest != nil {
		d := min(n, len(in.dest))
		in.dest = in.dest[d:]
		in.missing -= d
		n -= d
		if in.missing > 0 {
			return 0, nil
		}
		in.arrived(from, sink)
		frames++
	}
	bytes := b.mem[maxStash-len(in.stash) : maxStash+n]
	in.stash = in.stash[:0]
	for len(bytes) > 0 && !in.stopped {
		if in.large {
			d := min(in.missing, len(bytes))
			if in.dest != nil {
				copy(in.dest, bytes[:d])
				in.dest = in.dest[d:]
			}
			in.missing -= d
			bytes = bytes[d:]
			if in.missing > 0 {
				break
			}
			in.arrived(from, sink)
			frames++
			continue
		}
		if len(bytes) < wire.HeaderSize {
			break
		}
		if err := wire.DecodeHeader(&in.header, bytes); err != nil {
			in.Stop()
			return frames, err
		}
		length := int(in.header.Length)
		if length > transport.DirectSize {
			bytes = bytes[wire.HeaderSize:]
			in.large, in.missing = true, length
			if dest := sink.Dest(from, &in.header); dest != nil && !in.stopped {
				in.dest = dest[:length]
			}
			continue
		}
		end := wire.HeaderSize + length
		if len(bytes) < end {
			break
		}
		sink.Frame(from, &in.header, bytes[wire.HeaderSize:end:end])
		frames++
		bytes = bytes[end:]
	}
	if len(bytes) > 0 && !in.stopped {
		if in.stash == nil {
			in.stash = make([]byte, 0, maxStash)
		}
		in.stash = append(in.stash, bytes...)
	}
	return frames, nil
}

func (in *Inbox) arrived(from proto.Proc, sink transport.Sink) {
	in.large, in.dest = false, nil
	sink.Arrived(from, &in.header)
}

// Stop ends the stream: the Inbox hands nothing more on, and writes nothing more to where Dest
// said.
func (in *Inbox) Stop() { *in = Inbox{stopped: true} }
