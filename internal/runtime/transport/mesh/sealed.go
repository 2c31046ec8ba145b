package mesh

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport/stream"
)

// Where a job wants it, what processes of different hosts send to each other is sealed (package
// seal). Both directions of a connection have keys of its own, which the handshake agrees on.
//
// Frames wait in the peer's queue as they are, and are sealed when the socket may have room for
// them, a block at a time. Of a block that the socket has taken in part, the rest waits here, in
// front of the queue. Queued doesn't count it: it is less than a block.

// wish is what a dialler says of a connection. After a question nothing follows that could be
// sealed.
func (p *party) wish(conn net.Conn, why purpose) seal.Wish {
	w := p.sealing.Wish(conn)
	if why != toConnect {
		w = min(w, seal.NotThis)
	}
	return w
}

// sealed is the sealing of one peer's socket.
type sealed struct {
	out   *seal.Sealer
	in    *seal.Opener
	block []byte // sealed bytes that the socket didn't take at once; nil: it took all
	sent  int    // of the block
	stash []byte // the beginning of a record whose end hasn't arrived
}

func newSealed(keys seal.Keys) *sealed {
	return &sealed{out: seal.NewSealer(keys.Out), in: seal.NewOpener(keys.In)}
}

// waits says whether sealed bytes wait for room in the socket.
func (s *sealed) waits() bool { return s != nil && s.block != nil }

// writeSealed is write for a peer whose socket is sealed. Bytes count as gone when they are sealed.
func (t *Transport) writeSealed(p *peer, runs [][]byte) int {
	s := p.sealed
	if s.block != nil {
		if t.flushSealed(p); p.broken || s.block != nil {
			return 0
		}
	}
	gone := 0
	for {
		block, n := s.out.Fill(t.pool.Get(), runs)
		gone += n
		k := t.put(p, block)
		if k < len(block) && !p.broken {
			s.block, s.sent = block, k
			t.awaitRoom(p, true)
			return gone
		}
		t.pool.Put(block)
		if runs = after(runs, n); len(runs) == 0 || p.broken {
			return gone
		}
	}
}

// after drops the first n bytes of the runs.
func after(runs [][]byte, n int) [][]byte {
	for len(runs) > 0 && n >= len(runs[0]) {
		n -= len(runs[0])
		runs = runs[1:]
	}
	if n > 0 {
		runs[0] = runs[0][n:]
	}
	return runs
}

// flushSealed sends the sealed bytes that wait for room.
func (t *Transport) flushSealed(p *peer) {
	s := p.sealed
	for s.block != nil {
		k := t.put(p, s.block[s.sent:])
		if k == 0 && !p.broken {
			return
		}
		t.moved++
		if s.sent += k; s.sent == len(s.block) || p.broken {
			t.pool.Put(s.block)
			s.block, s.sent = nil, 0
		}
	}
}

// unseal forgets a peer's keys and what was sealed for it.
func (t *Transport) unseal(p *peer) {
	if p.sealed.waits() {
		t.pool.Put(p.sealed.block)
	}
	p.sealed = nil
}

// receiveSealed is receive for a peer whose socket is sealed. It opens all records that have come
// whole. The sink may end the connection meanwhile.
func (t *Transport) receiveSealed(p *peer) {
	s := p.sealed
	if t.records == nil {
		t.records = make([]byte, seal.MaxRecord+readSize)
	}
	begin := seal.MaxRecord - len(s.stash)
	copy(t.records[begin:], s.stash)
	n, errno := t.vector.Receive(p.fd, nil, t.records[seal.MaxRecord:])
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return
	case errno != 0 || n == 0:
		t.end(p)
		return
	}
	p.silent = false
	t.moved++
	rest := t.records[begin : seal.MaxRecord+n]
	s.stash = s.stash[:0]
	for p.sealed == s {
		size, err := seal.Size(rest)
		if err == nil && (size == 0 || size > len(rest)) {
			break
		}
		if err == nil {
			err = t.open(p, rest[:size])
		}
		if err != nil {
			if p.state == live {
				t.logRefusal(fmt.Errorf("from %v: %w", p.proc, err), nil)
				t.end(p)
			}
			return
		}
		rest = rest[size:]
	}
	if len(rest) > 0 && p.sealed == s {
		if s.stash == nil {
			s.stash = make([]byte, 0, seal.MaxRecord)
		}
		s.stash = append(s.stash, rest...)
	}
}

// open opens a record, and takes its data in. Those of a large payload go straight to their
// destination.
func (t *Transport) open(p *peer, record []byte) error {
	direct, rest := p.inbox.Space(t.buffer)
	size := len(record) - seal.Overhead
	dst := rest[:0]
	if size <= len(direct) {
		dst = direct[:0:size]
	}
	data, err := p.sealed.in.Open(dst, record)
	if err != nil {
		return err
	}
	if 0 < len(direct) && len(direct) < size {
		// The end of a large payload, and what follows it.
		k := copy(direct, data)
		copy(rest, data[k:])
	}
	_, err = p.inbox.Take(p.proc, t.buffer, size, t.sink)
	return err
}

// The largest record has room in a block, and its data in the buffer that takes what was read.
var _ = [stream.ChunkSize - seal.MaxRecord]struct{}{}
var _ = [readSize - seal.MaxData]struct{}{}
