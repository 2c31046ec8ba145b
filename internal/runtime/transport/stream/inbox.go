package stream

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// maxStash is the most that an Inbox keeps between two reads: a header and a
// small payload, less one byte.
const maxStash = wire.HeaderSize + transport.DirectSize

// Buffer is where bytes are read to before they are taken apart. One serves all
// Inboxes of a transport, one after the other.
type Buffer struct{ mem []byte }

// NewBuffer returns a Buffer that takes size bytes a read.
func NewBuffer(size int) *Buffer { return &Buffer{make([]byte, maxStash+size)} }

// Inbox takes one peer's stream apart. The zero value is ready.
type Inbox struct {
	header  wire.Header // of the frame that is being handed on
	large   bool        // a payload above DirectSize is arriving
	missing int         // how many of its bytes haven't
	place   []byte      // where they go, nil to drop them
	stash   []byte      // the beginning of a frame whose end hasn't arrived
	stopped bool
}

// Space returns where the next bytes of the stream go: first into direct, until
// it is full, then into rest. The next call on any Inbox of this Buffer must be
// Take.
func (in *Inbox) Space(b *Buffer) (direct, rest []byte) {
	copy(b.mem[maxStash-len(in.stash):], in.stash)
	if in.large && in.place != nil {
		return in.place, b.mem[maxStash:]
	}
	return nil, b.mem[maxStash:]
}

// Large tells whether a large payload is arriving.
func (in *Inbox) Large() bool { return in.large }

// Take says that n bytes have been read to where Space said, hands the frames
// that they complete to sink, and returns how many there were. An error wraps
// wire.ErrCorrupt; the stream is of no more use then. Sink's methods may Stop
// the Inbox.
func (in *Inbox) Take(from proto.Proc, b *Buffer, n int, sink transport.Sink) (frames int, err error) {
	if in.large && in.place != nil {
		d := min(n, len(in.place))
		in.place = in.place[d:]
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
			if in.place != nil {
				copy(in.place, bytes[:d])
				in.place = in.place[d:]
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
			if place := sink.Dest(from, &in.header); place != nil && !in.stopped {
				in.place = place[:length]
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
	in.large, in.place = false, nil
	sink.Arrived(from, &in.header)
}

// Stop ends the stream: nothing more is handed on, nothing more is written to
// where Dest said.
func (in *Inbox) Stop() { *in = Inbox{stopped: true} }
