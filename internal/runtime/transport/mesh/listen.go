package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

const (
	// maxPending bounds the connections whose handshake isn't over.
	maxPending = 64
	// pendingRight is how long one of them keeps its place against replacements
	// when there are maxPending: strangers that connect and say nothing can't
	// keep the job's own out.
	pendingRight = 200 * time.Millisecond
)

// listener takes the incoming connections of a dialler's party.
type listener struct {
	*dialler
	gate
}

// serve accepts until the socket is closed and ctx ends.
func (l *listener) serve(ctx context.Context, socket net.Listener) {
	l.open(ctx, socket, func(conn net.Conn) { l.greet(ctx, conn) }, func(err error) { l.refusal(err, nil) })
}

// gate lets in who connects, some at a time.
type gate struct {
	mu      sync.Mutex
	pending map[net.Conn]time.Time // since when
}

// open has greet called with each connection, which it closes or keeps, until the socket is
// closed and ctx ends.
func (g *gate) open(ctx context.Context, socket net.Listener, greet func(net.Conn), failed func(error)) {
	var running sync.WaitGroup // one for each socket: they end at different times
	defer running.Wait()
	for {
		conn, err := socket.Accept()
		if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil { // no descriptors left, say
			failed(err)
			pause(ctx, lastPause)
			continue
		}
		for !g.admit(conn) {
			pause(ctx, time.Millisecond)
		}
		running.Go(func() {
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			defer stop()
			defer g.leave(conn)
			greet(conn)
		})
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// admit gives a connection its place among the pending, if need be at the cost
// of the oldest one; false if that still has the right to its own.
func (g *gate) admit(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pending) >= maxPending {
		var oldest net.Conn
		for c, since := range g.pending {
			if oldest == nil || since.Before(g.pending[oldest]) {
				oldest = c
			}
		}
		if time.Since(g.pending[oldest]) < pendingRight {
			return false
		}
		oldest.Close()
		delete(g.pending, oldest)
	}
	if g.pending == nil {
		g.pending = map[net.Conn]time.Time{}
	}
	g.pending[conn] = time.Now()
	return true
}

// leave gives a connection's place to others: its handshake is over.
func (g *gate) leave(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, conn)
}

// errHungUp is a dialler's that left while all it had said was right. Peers do
// that: a job's end cuts their dials short, as does a death.
var errHungUp = errors.New("the dialler hung up")

// hungUp says whether a handshake of the acceptor failed because of that.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

// greet runs the handshake with who has connected, and passes the connection on
// if it is accepted.
func (l *listener) greet(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	end := handle{pidfd: -1}
	h, v, err := l.accept(conn, func(h *hello) verdict {
		err := checkPeer(conn, h.pid)
		if _, local := conn.(*net.UnixConn); l.media == SharedMemory && !local && h.purpose == toConnect {
			err = fmt.Errorf("%v: %w", h.from, errApart)
		}
		if err != nil {
			l.refusal(err, nil)
			return goneHere
		}
		v := l.board.judge(h.from, h.fromIncarnation, h.purpose)
		if v == heeded { // before the dialler hears so
			l.board.post(news{peer: h.from, incarnation: h.fromIncarnation, kind: ended, why: transport.EvidenceEviction})
		}
		if v == accepted {
			end = l.watch(h.host == l.party.host, h.pid, h.start)
		}
		if end.pidfd >= 0 {
			// Whichever of the two is stopped now, for however long: the other waits.
			conn.SetDeadline(time.Time{})
		}
		return v
	})
	if v != accepted {
		if hungUp(err) {
			err = fmt.Errorf("%w: %w", errHungUp, err)
		}
		if err != nil {
			l.refusal(err, conn.RemoteAddr())
		}
		return
	}
	// From here on the link counts as up.
	var via medium
	if err == nil {
		via, err = l.agree(conn, h.pid, end)
	}
	if err != nil {
		defer end.close()
		if hungUp(err) {
			err = fmt.Errorf("%w: %w", errHungUp, err)
		}
		l.refusal(err, conn.RemoteAddr())
		why := transport.EvidenceLost
		switch {
		case end.exited || end.pidfd >= 0 && exits(end.pidfd, exitGrace):
			why = transport.EvidenceExited
		case end.pidfd >= 0 && errors.Is(err, errHungUp):
			// It lives, and doesn't know that it was accepted: now it is this side's turn.
			conn.Close()
			if l.board.retract(h.from, h.fromIncarnation) {
				l.connect(ctx, h.from, h.fromIncarnation)
			}
			return
		}
		l.board.post(news{peer: h.from, incarnation: h.fromIncarnation, kind: ended, why: why})
		return
	}
	l.board.post(news{peer: h.from, incarnation: h.fromIncarnation, kind: connected, via: via, end: end})
}

// agree makes a medium with a peer that has been accepted, and that has time for it as long as it lives.
func (l *listener) agree(conn net.Conn, pid int, end handle) (medium, error) {
	if end.pidfd >= 0 {
		defer attend(conn, func() bool { return !exits(end.pidfd, 0) })()
	}
	return l.takeOver(conn, shm.Accept, pid)
}
