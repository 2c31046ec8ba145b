package groupnode

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"banyan/internal/groupnode/poller"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

const (
	// handshakeLimit bounds one handshake.
	handshakeLimit = 2 * time.Second
	// dialLimit bounds all attempts to reach a member. It is generous, because the detector judges
	// silence.
	dialLimit = 10 * time.Second
	// admitLimit bounds all attempts to reach a joiner, which waits for an answer meanwhile.
	admitLimit = handshakeLimit * 3 / 4
	// The pause between two attempts to reach a member doubles from one to the next.
	firstPause = time.Millisecond
	lastPause  = 100 * time.Millisecond
)

// link carries frames to one member in one incarnation. It is made once: a connection that broke
// may have lost frames, so there is no second one.
//
// Each direction between two members has a connection of its own, which the sender makes. So no
// one has to decide which of two crossing connections counts, and a stream ends with its sender's
// last frame.
type link struct {
	to   membership.Member
	lost func() // the loop calls it when the connection has ended by itself

	mu       sync.Mutex
	socket   *poller.Socket // nil until made
	sealer   *seal.Sealer   // nil: nothing is sealed
	queue    []byte         // what the socket hasn't taken yet; before the connection, frames in clear
	flushing bool           // the poller, or a call of Room, sends the queue
	closing  bool           // hang up when the queue is empty
	down     bool
}

// send queues a frame. It doesn't wait: the part that the socket takes leaves at once.
func (l *link) send(frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down || l.closing {
		return
	}
	if l.socket == nil {
		l.queue = append(l.queue, frame...)
		return
	}
	frame = l.sealed(frame)
	if !l.flushing {
		frame = frame[l.socket.Write(frame):]
	}
	if len(frame) > 0 {
		l.queue = append(l.queue, frame...)
		l.flushLocked()
	}
}

// sealed is what leaves in place of frames.
func (l *link) sealed(frames []byte) (records []byte) {
	if l.sealer == nil {
		return frames
	}
	for len(frames) > 0 {
		n := min(len(frames), seal.MaxData)
		records, frames = l.sealer.Seal(records, frames[:n]), frames[n:]
	}
	return records
}

// up takes a connection over and sends the frames that have waited for it. keys are nil if they
// aren't sealed. The result is false if the link has ended meanwhile.
func (l *link) up(p *poller.Poller, conn *net.TCPConn, keys *seal.Keys) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		conn.Close()
		return false
	}
	socket, err := p.Add(conn, l)
	if err != nil {
		l.down = true
		return false
	}
	l.socket = socket
	if keys != nil {
		l.sealer = seal.NewSealer(keys.Out)
		l.queue = l.sealed(l.queue)
	}
	l.flushLocked()
	return true
}

func (l *link) flushLocked() {
	switch {
	case l.socket == nil || l.flushing:
	case len(l.queue) > 0:
		l.flushing = true
		l.socket.AwaitRoom()
	case l.closing:
		l.socket.Close()
	}
}

// Room sends what waits. The lock isn't held meanwhile: there are systems on which Write waits.
func (l *link) Room() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 && !l.down {
		queue := l.queue
		l.queue = nil
		l.mu.Unlock()
		rest := queue[l.socket.Write(queue):]
		l.mu.Lock()
		if len(rest) > 0 {
			l.queue = append(rest, l.queue...)
			l.socket.AwaitRoom()
			return
		}
	}
	l.flushing = false
	if l.closing {
		l.socket.Close()
	}
}

// Bytes ends the connection: nothing is said in this direction.
func (l *link) Bytes([]byte) error { return errMalformed }

// End notes that the connection has ended by itself.
func (l *link) End(error) {
	l.cut()
	l.lost()
}

// finish hangs up when all has been sent.
func (l *link) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
	l.flushLocked()
}

// idle says that nothing waits to be sent.
func (l *link) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down || len(l.queue) == 0 && !l.flushing
}

// isDown says that nothing can be sent any more.
func (l *link) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

// cut ends the link at once.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	l.queue = nil
	if l.socket != nil {
		l.socket.Close()
	}
}

// finding is what attempts to reach a member have found out.
type finding uint8

const (
	alive       finding = iota // it answers
	dead                       // the kernel says that it has ended
	excludesUs                 // it has a view without this process
	unreachable                // no answer, or a refusal, which may come from a firewall
)

// reach dials a member until there is an answer, the time is up, or this member ends. A refusal is
// an answer to a mere question; a link is tried again. The connection is the caller's if the member
// is alive and h's purpose is toSend; what follows on it is sealed by the keys, if there are some.
func (m *Member) reach(card Card, h *hello, limit time.Duration) (*net.TCPConn, *seal.Keys, finding, uint64) {
	ctx, cancel := context.WithTimeout(m.ctx, limit)
	defer cancel()
	for pause := (handshake.Backoff{Next: firstPause, Max: lastPause}); ; {
		conn, keys, a, err := m.dial(ctx, card.Address, h)
		refused := errors.Is(err, syscall.ECONNREFUSED) || err == nil && a.verdict == notHere
		switch {
		case refused && m.hasEnded(card):
			return nil, nil, dead, 0
		case refused && h.purpose == toAsk:
			return nil, nil, unreachable, 0
		case err != nil:
			m.log.Debug("dial", "to", card.Name, "err", err)
		case a.verdict == welcome:
			if h.purpose == toSend {
				return conn, keys, alive, 0
			}
			conn.Close()
			return nil, nil, alive, 0
		case a.verdict == eviction:
			return nil, nil, excludesUs, a.number
		}
		if !pause.Pause(ctx) {
			return nil, nil, unreachable, 0
		}
	}
}

// dial makes one attempt. The connection is open if the verdict is welcome. The keys are nil if
// what follows isn't sealed.
func (m *Member) dial(ctx context.Context, address string, h *hello) (*net.TCPConn, *seal.Keys, *answer, error) {
	var c net.Conn
	var b []byte
	var keys *seal.Keys
	var err error
	if h.sealed() {
		keys = new(seal.Keys)
		c, b, *keys, err = protocol.ConnectSealed(ctx, &net.Dialer{}, address, handshakeLimit, m.cfg.Secret, h.encode())
	} else {
		c, b, err = protocol.Connect(ctx, &net.Dialer{}, address, handshakeLimit, m.cfg.Secret, h.encode())
	}
	if err != nil {
		return nil, nil, nil, err
	}
	a, err := decodeAnswer(b)
	if err != nil || a.verdict != welcome {
		c.Close()
		return nil, nil, a, err
	}
	return c.(*net.TCPConn), keys, a, nil
}

// unkept ends the kernel's own probes of a connection that doesn't leave this host: no middlebox
// drops it when it is idle, and the kernel tells each end when the other is gone.
func (m *Member) unkept(conn *net.TCPConn, with Card) {
	if with.Home != (home{}) && with.Home == m.card.Home {
		conn.SetKeepAlive(false) // an error means more packets
	}
}

// connect makes a link.
func (m *Member) connect(l *link, card Card, h *hello, limit time.Duration) {
	conn, keys, found, number := m.reach(card, h, limit)
	if found == alive {
		m.unkept(conn, card)
		if l.up(m.poller, conn, keys) {
			m.post(func() { m.linked(l) })
		}
		return
	}
	l.cut()
	m.post(func() { m.linkEnded(l, found, number) })
}
