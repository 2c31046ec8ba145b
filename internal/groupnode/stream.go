package groupnode

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"banyan/internal/groupnode/poller"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/wire"
)

// stream carries the frames of one member in one incarnation to this one.
type stream struct {
	member   *Member
	from     membership.Member
	founding Founding     // of its sender
	heard    bool         // a frame has come
	opener   *seal.Opener // nil: nothing is sealed
	records  []byte       // the beginning of a record
	opened   []byte       // what the last one had in it; reused
	frames   assembler
	message  []byte // the frames so far of one that takes several

	mu     sync.Mutex
	conn   *net.TCPConn   // until the end of the handshake
	socket *poller.Socket // afterwards
	closed bool
}

// begin gives the connection to a poller. It returns false if the stream is closed already.
func (s *stream) begin(p *poller.Poller) bool {
	s.mu.Lock()
	closed := s.closed
	var err error
	if !closed {
		s.socket, err = p.Add(s.conn, s)
	}
	s.mu.Unlock()
	if err != nil {
		m := s.member
		m.post(func() { m.log.Warn("stream ended", "from", m.nameOf(s.from), "err", err); m.streamEnded(s, false) })
	}
	return !closed && err == nil
}

// close closes the connection.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.socket != nil {
		s.socket.Close()
	} else {
		s.conn.Close()
	}
}

// Bytes takes what has come. The loop calls it.
func (s *stream) Bytes(b []byte) error {
	if s.opener == nil {
		return s.frames.feed(b, s.frame)
	}
	s.records = append(s.records, b...)
	rest := s.records
	for {
		size, err := seal.Size(rest)
		if err != nil {
			return err
		}
		if size == 0 || len(rest) < size {
			s.records = append(s.records[:0], rest...)
			return nil
		}
		if s.opened, err = s.opener.Open(s.opened[:0], rest[:size]); err == nil {
			err = s.frames.feed(s.opened, s.frame)
		}
		if err != nil {
			return err
		}
		rest = rest[size:]
	}
}

func (s *stream) frame(h wire.Header, payload []byte) {
	m := s.member
	m.now = m.clock()
	if m.ended == nil {
		m.frame(s, &h, payload)
	}
}

// Room isn't called: nothing is said in this direction.
func (s *stream) Room() {}

// End hands over the stream's end. It is in order if it is between two frames.
func (s *stream) End(err error) {
	m := s.member
	m.now = m.clock()
	if errors.Is(err, wire.ErrCorrupt) || errors.Is(err, seal.ErrForged) {
		m.log.Warn("stream ended", "from", m.nameOf(s.from), "err", err)
	}
	orderly := errors.Is(err, io.EOF) && len(s.records) == 0 && len(s.frames.rest) == 0
	m.streamEnded(s, orderly)
}

// assembler makes frames of the bytes that come.
type assembler struct{ rest []byte }

// feed takes bytes, and calls frame with each frame that is complete. It may keep the payload.
func (a *assembler) feed(b []byte, frame func(h wire.Header, payload []byte)) error {
	if len(a.rest) > 0 {
		a.rest = append(a.rest, b...)
		b = a.rest
	}
	for len(b) >= wire.HeaderSize {
		var h wire.Header
		if err := wire.DecodeHeader(&h, b[:wire.HeaderSize]); err != nil {
			return err
		}
		if !expected(h.Kind) {
			return fmt.Errorf("%w: a frame of kind %v", wire.ErrCorrupt, h.Kind)
		}
		end := wire.HeaderSize + int(h.Length)
		if len(b) < end {
			break
		}
		var payload []byte
		if h.Length > 0 {
			payload = append(payload, b[wire.HeaderSize:end]...)
		}
		frame(h, payload)
		b = b[end:]
	}
	if len(b) == 0 {
		a.rest = nil // a long frame was rare
		return nil
	}
	a.rest = append(a.rest[:0], b...)
	return nil
}

// expected says whether members send each other frames of a kind.
func expected(k wire.Kind) bool {
	switch k {
	case wire.KindHeartbeat, wire.KindObserve, wire.KindNews, wire.KindReconcile, wire.KindProbe, wire.KindMembership:
		return true
	}
	return false
}
