package groupnode

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/wire"
)

// stream carries the frames of one member in one incarnation.
type stream struct {
	from     membership.Member
	founding Founding // of its sender
	conn     *net.TCPConn
	in       io.Reader // the frames on it
	heard    bool      // a frame has come
}

// listen accepts connections until ctx ends.
func (m *Member) listen() {
	var gate handshake.Gate
	gate.Serve(m.ctx, m.socket, func(conn net.Conn, proven func()) {
		defer conn.Close()
		if s := m.greet(conn.(*net.TCPConn), proven); s != nil {
			m.read(s)
		}
	}, func(err error) { m.log.Warn("accept", "err", err) })
}

// greet runs the handshake with a dialler. It returns a stream if frames will follow.
func (m *Member) greet(conn *net.TCPConn, proven func()) *stream {
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	s := &stream{conn: conn, in: conn}
	h, a, keys, err := acceptHandshake(conn, m.cfg.Secret, m.cfg.OtherSecrets, func(h *hello) (answer, error) {
		proven()
		reply := make(chan answer, 1)
		if h.purpose == toJoin || h.purpose == toMeet {
			// Other members may have to be asked first. The dialler bounds the time.
			conn.SetDeadline(time.Time{})
			m.post(func() { m.joinRequested(h, reply) })
		} else {
			m.post(func() { reply <- m.judge(h, s) })
		}
		select {
		case a := <-reply:
			conn.SetDeadline(time.Now().Add(handshakeLimit))
			return a, nil
		case <-time.After(handshakeLimit):
			return answer{}, errors.New("no answer in time")
		case <-m.ctx.Done():
			return answer{}, m.ctx.Err()
		}
	})
	if err != nil {
		if m.ctx.Err() == nil {
			m.refuse(conn, err)
		}
		m.post(func() { m.streamEnded(s, false) }) // judge may have made it a stream
		return nil
	}
	if a.verdict != welcome || h.purpose != toSend {
		return nil
	}
	conn.SetDeadline(time.Time{})
	if keys != nil {
		s.in = seal.NewConn(conn, *keys)
	}
	return s
}

// refuse logs why a connection was refused. The first stranger is at level warn; there may be
// many.
func (m *Member) refuse(conn *net.TCPConn, err error) {
	log := m.log.Debug
	if errors.Is(err, handshake.ErrStranger) && !m.warned.Swap(true) {
		log = m.log.Warn
	}
	log("connection refused", "from", conn.RemoteAddr(), "err", err)
}

// read hands over the frames of a stream, and its end.
func (m *Member) read(s *stream) {
	orderly := false
	err := readFrames(s.in, func(h wire.Header, payload []byte) {
		m.post(func() { m.frame(s, &h, payload) })
	})
	if errors.Is(err, io.EOF) {
		orderly = true
	} else if errors.Is(err, wire.ErrCorrupt) || errors.Is(err, seal.ErrForged) {
		m.post(func() { m.log.Warn("stream ended", "from", m.nameOf(s.from), "err", err) })
	}
	m.post(func() { m.streamEnded(s, orderly) })
}

// readFrames reads frames until the end. Its error is io.EOF if the end is between two frames.
// frame may keep its payload.
func readFrames(r io.Reader, frame func(h wire.Header, payload []byte)) error {
	in := bufio.NewReaderSize(r, 4096)
	var head [wire.HeaderSize]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		var h wire.Header
		if err := wire.DecodeHeader(&h, head[:]); err != nil {
			return err
		}
		if !expected(h.Kind) {
			return fmt.Errorf("%w: a frame of kind %v", wire.ErrCorrupt, h.Kind)
		}
		var payload []byte
		if h.Length > 0 {
			payload = make([]byte, h.Length)
			if _, err := io.ReadFull(in, payload); err != nil {
				return fmt.Errorf("in a frame: %w", noEOF(err))
			}
		}
		frame(h, payload)
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// expected says whether members send each other frames of a kind.
func expected(k wire.Kind) bool {
	switch k {
	case wire.KindHeartbeat, wire.KindObserve, wire.KindNews, wire.KindReconcile, wire.KindProbe, wire.KindMembership:
		return true
	}
	return false
}
