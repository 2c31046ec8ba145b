// Package stream turns the frames between two Procs into a stream of bytes and back, for
// transports whose medium is a byte stream: a socket (tcp), or a ring in memory (inproc).
//
//   - Outbox has the frames that wait for one peer.
//   - Inbox takes a peer's bytes apart, however they were cut.
//
// Both are passive: they do no I/O, know no time and take no lock. Their owner moves the bytes. A
// writer that dies leaves a prefix of its stream; Inbox hands on the whole frames in it and drops
// the rest.
//
// In a steady flow of small frames this package allocates nothing.
package stream

import (
	"banyan/internal/runtime/wire"
)

// ChunkSize is the size of the blocks in which copied bytes wait. A peer with a backlog wastes
// less than one block.
const ChunkSize = 32 << 10

// maxIdleChunks bounds how many blocks a Pool keeps for later (1 MiB).
const maxIdleChunks = 32

// Pool keeps blocks of ChunkSize bytes for the Outboxes of one transport, and for what their owner
// makes of the bytes in them. The zero value is ready.
type Pool struct{ idle [][]byte }

// Get returns an empty block.
func (p *Pool) Get() []byte {
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		return c
	}
	return make([]byte, 0, ChunkSize)
}

// Put takes a block back that isn't used any more.
func (p *Pool) Put(c []byte) {
	if len(p.idle) < maxIdleChunks {
		p.idle = append(p.idle, c[:0])
	}
}

// span is a run of bytes that wait: either copied into a block, or a borrowed payload.
type span struct {
	data  []byte // has yet to leave
	chunk []byte // the block that data lies in, nil if borrowed
	token uint64 // to give back when data has left, if borrowed
}

// Outbox has the frames that wait for one peer, as bytes. The zero value is empty and ready.
type Outbox struct {
	spans []span // those from head on wait
	head  int
	bytes int
}

// Len is how many bytes wait.
func (o *Outbox) Len() int { return o.bytes }

// Add puts a frame, with an encoded header, at the end. The first gone bytes of the frame have
// left already. With a token the payload is borrowed until Advance or Drop returns the token;
// without one it is copied.
func (o *Outbox) Add(pool *Pool, header, payload []byte, token uint64, gone int) {
	if gone < wire.HeaderSize {
		o.copyIn(pool, header[gone:wire.HeaderSize])
		gone = wire.HeaderSize
	}
	rest := payload[gone-wire.HeaderSize:]
	if token == 0 {
		o.copyIn(pool, rest)
		return
	}
	o.bytes += len(rest)
	o.push(span{data: rest, token: token})
}

// copyIn appends a copy of b. It fills the last block before it takes another.
func (o *Outbox) copyIn(pool *Pool, b []byte) {
	o.bytes += len(b)
	for len(b) > 0 {
		var last *span
		if len(o.spans) > o.head {
			last = &o.spans[len(o.spans)-1]
		}
		if last == nil || last.chunk == nil || len(last.chunk) == cap(last.chunk) {
			c := pool.Get()
			o.push(span{data: c, chunk: c})
			last = &o.spans[len(o.spans)-1]
		}
		n := min(len(b), cap(last.chunk)-len(last.chunk))
		last.chunk = append(last.chunk, b[:n]...)
		last.data = last.data[:len(last.data)+n]
		b = b[n:]
	}
}

// push appends a span. It first moves the waiting ones to the front where that avoids growing the
// slice.
func (o *Outbox) push(s span) {
	if len(o.spans) == cap(o.spans) && o.head > len(o.spans)/2 {
		n := copy(o.spans, o.spans[o.head:])
		clear(o.spans[n:])
		o.spans, o.head = o.spans[:n], 0
	}
	o.spans = append(o.spans, s)
}

// Bytes appends at most limit runs of waiting bytes, the first ones, to dst. They stay valid
// until the next call that changes the Outbox.
func (o *Outbox) Bytes(dst [][]byte, limit int) [][]byte {
	for i := o.head; i < len(o.spans) && limit > 0; i++ {
		if len(o.spans[i].data) > 0 {
			dst = append(dst, o.spans[i].data)
			limit--
		}
	}
	return dst
}

// Advance notes that the first n bytes have left. It appends to done the tokens of the borrowed
// payloads that have left with them.
func (o *Outbox) Advance(pool *Pool, n int, done []uint64) []uint64 {
	o.bytes -= n
	for o.head < len(o.spans) {
		s := &o.spans[o.head]
		if n < len(s.data) {
			s.data = s.data[n:]
			break
		}
		n -= len(s.data)
		if s.chunk != nil {
			pool.Put(s.chunk)
		} else {
			done = append(done, s.token)
		}
		*s = span{}
		o.head++
	}
	if o.head == len(o.spans) {
		o.spans, o.head = o.spans[:0], 0
	}
	return done
}

// Drop drops all waiting bytes, and appends the tokens of all borrowed payloads to done.
func (o *Outbox) Drop(pool *Pool, done []uint64) []uint64 {
	done = o.Advance(pool, o.bytes, done)
	o.spans = nil
	return done
}
