package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

// listener takes the incoming connections of a dialler's party.
type listener struct {
	*dialler
	gate handshake.Gate
}

// serve accepts until the socket is closed and ctx ends.
func (l *listener) serve(ctx context.Context, socket net.Listener) {
	greet := func(conn net.Conn, proven func()) { l.greet(ctx, conn, proven) }
	l.gate.Serve(ctx, socket, greet, func(err error) { l.refusal(err, nil) })
}

// greet runs the handshake with who has connected, and passes the connection on
// if it is accepted.
func (l *listener) greet(ctx context.Context, conn net.Conn, proven func()) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	end := handle{pidfd: -1}
	h, v, err := l.accept(conn, func(h *hello) verdict {
		proven()
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
		if err != nil {
			l.refusal(err, conn.RemoteAddr())
		}
		return
	}
	// From here on the link counts as up.
	var via medium
	if err == nil {
		via, err = l.agree(conn, h.pid, end)
		err = handshake.MarkHangUp(err)
	}
	if err != nil {
		defer end.close()
		l.refusal(err, conn.RemoteAddr())
		why := transport.EvidenceLost
		switch {
		case end.exited || end.pidfd >= 0 && exits(end.pidfd, exitGrace):
			why = transport.EvidenceExited
		case end.pidfd >= 0 && errors.Is(err, handshake.ErrHungUp):
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
