package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/transport"
)

const (
	// handshakeLimit bounds one handshake.
	handshakeLimit = 5 * time.Second
	// dialLimit bounds all attempts to reach a peer, but for a last one of
	// lastAttempt: this process may have been stopped in the middle of the one
	// before.
	dialLimit   = 5 * time.Second
	lastAttempt = time.Second
	// The pause between two attempts doubles from one to the other.
	firstPause = time.Millisecond
	lastPause  = 200 * time.Millisecond
	// askLimit bounds the question why a connection has ended.
	askLimit = time.Second
	// exitGrace is how long the kernel may take from closing a dying
	// process's sockets to declaring it dead.
	exitGrace = 50 * time.Millisecond
	// quietSpan is how long nothing must have come of a dead peer whose
	// sockets a forked child holds open, before its stream counts as ended.
	quietSpan = 10 * time.Millisecond
)

// dialler makes the outgoing connections. Its methods run on goroutines of their
// own and tell the outcome to the board.
type dialler struct {
	party
	card    Card
	resolve func(proto.Proc) (Card, error)
	board   *board
	refusal func(error, net.Addr)
	limit   time.Duration // dialLimit
}

// connect reaches a peer, unless it's dead or the peer reaches us first.
func (d *dialler) connect(ctx context.Context, to proto.Proc) {
	card, err := d.resolve(to)
	if err != nil {
		d.refusal(fmt.Errorf("resolve %v: %w", to, err), nil)
		d.board.finishDial(news{peer: to, kind: ended, why: transport.EvidenceLost})
		return
	}
	end := d.watch(card.Host == d.card.Host, card.Pid, card.Start)
	outcome := d.retry(ctx, to, card, end)
	if outcome.kind != connected {
		end.close()
		d.board.finishDial(outcome)
		return
	}
	outcome.end = end
	if !d.board.finishDial(outcome) {
		outcome.discard()
	}
}

// retry dials until there is a connection or an end of hope. A peer on this host
// that is stopped, in a debugger perhaps, doesn't use up its time: whether it
// counts as dead is for its observer to say.
func (d *dialler) retry(ctx context.Context, to proto.Proc, card Card, end handle) news {
	failed := news{peer: to, kind: ended, why: transport.EvidenceLost}
	deadline, last := time.Now().Add(d.limit), false
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		if end.exited || end.pidfd >= 0 && exits(end.pidfd, 0) {
			failed.why = transport.EvidenceExited
			return failed
		}
		if !d.board.dialling(to) {
			return failed
		}
		attempt, cancel := context.WithTimeout(ctx, max(time.Until(deadline), min(d.limit, lastAttempt)))
		fd, v, _, err := d.try(attempt, to, card, toConnect)
		cancel()
		switch {
		case err == nil && v == accepted:
			return news{peer: to, kind: connected, fd: fd}
		case err == nil && v == obituary:
			failed.why = transport.EvidenceObituary
			return failed
		case err == nil && v == goneHere, errors.Is(err, errVersion):
			if err != nil {
				d.refusal(fmt.Errorf("connect to %v: %w", to, err), nil)
			}
			return failed
		}
		if last || ctx.Err() != nil {
			if err == nil {
				err = fmt.Errorf("refused: %v", v)
			}
			d.refusal(fmt.Errorf("connect to %v at %s: %w", to, card.Addr, err), nil)
			return failed
		}
		if end.pidfd >= 0 && stopped(card.Pid) {
			deadline = time.Now().Add(d.limit)
		}
		pause(ctx, wait)
		last = time.Now().After(deadline)
	}
}

// try dials once. The socket is the caller's if the verdict is accepted.
func (d *dialler) try(ctx context.Context, to proto.Proc, card Card, why purpose) (int, verdict, standing, error) {
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, "tcp", card.Addr)
	if err != nil {
		return -1, 0, standing{}, err
	}
	defer conn.Close()
	// The end of ctx ends the handshake, too.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	v, s, err := d.dial(conn, to, card.Incarnation, why)
	if err != nil || v != accepted {
		return -1, v, s, err
	}
	fd, err := takeOver(conn.(*net.TCPConn))
	return fd, v, s, err
}

// watch opens the handle of a peer's process.
func (d *dialler) watch(sameHost bool, pid int, start uint64) handle {
	if !sameHost {
		return handle{pidfd: -1}
	}
	fd, err := openPidfd(pid, start)
	return handle{pidfd: fd, exited: errors.Is(err, errNoProcess)}
}

// inquire finds out why a peer's connection has ended: did its process exit,
// has it fenced us, or is it just lost? It closes the pidfd.
func (d *dialler) inquire(ctx context.Context, p proto.Proc, pidfd int) {
	d.board.post(news{peer: p, kind: ended, why: d.inquest(ctx, p, pidfd)})
}

func (d *dialler) inquest(ctx context.Context, p proto.Proc, pidfd int) transport.Evidence {
	if pidfd >= 0 {
		defer handle{pidfd: pidfd}.close()
		if exits(pidfd, exitGrace) {
			return transport.EvidenceExited
		}
	}
	card, err := d.resolve(p)
	if err != nil {
		return transport.EvidenceLost
	}
	switch v, _, err := d.question(ctx, p, card, toAsk); {
	case err == nil && v == obituary:
		return transport.EvidenceObituary
	case pidfd < 0 && errors.Is(err, unix.ECONNREFUSED):
		// The other host answers that nobody listens: a process keeps its
		// listener as long as it lives.
		return transport.EvidenceExited
	}
	return transport.EvidenceLost
}

// hush tells the owner when a dead peer's stream should have ended.
func (d *dialler) hush(ctx context.Context, p proto.Proc) {
	select {
	case <-ctx.Done():
	case <-time.After(quietSpan):
		d.board.post(news{peer: p, kind: quiet})
	}
}
