package groupnode

import (
	"errors"
	"net"
	"time"

	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

// listen accepts connections until ctx ends.
func (m *Member) listen() {
	var gate handshake.Gate
	gate.Serve(m.ctx, m.socket, func(conn net.Conn, proven func()) {
		if s := m.greet(conn.(*net.TCPConn), proven); s == nil || !s.begin(m.poller) {
			conn.Close()
		}
	}, func(err error) { m.log.Warn("accept", "err", err) })
}

// greet runs the handshake with a dialler. It returns a stream if frames will follow.
func (m *Member) greet(conn *net.TCPConn, proven func()) *stream {
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	s := &stream{member: m, conn: conn}
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
	m.unkept(conn, h.card)
	if keys != nil {
		s.opener = seal.NewOpener(keys.In)
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
