package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/transport/tcp"
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
	// attention is how often somebody looks whether a handshake without a deadline is worth going on with.
	attention = 100 * time.Millisecond
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
	media   Media
	own     *shm.Own // nil: no shared memory
	refusal func(error, net.Addr)
	limit   time.Duration // dialLimit
}

// connect reaches a peer, unless it's dead or the peer reaches us first.
func (d *dialler) connect(ctx context.Context, to proto.Proc, incarnation proto.Incarnation) {
	card, err := d.awaitCard(ctx, to, incarnation)
	if err != nil {
		d.refusal(fmt.Errorf("resolve %v: %w", to, err), nil)
		d.board.finishDial(news{peer: to, incarnation: incarnation, kind: ended, why: evidenceOf(err)})
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

// retry dials until there is a connection or an end of hope. A peer on this host that lives has all the time it
// takes to answer, be it stopped, in a debugger, or starved: whether it
// counts as dead is for its observer to say.
func (d *dialler) retry(ctx context.Context, to proto.Proc, card Card, end handle) news {
	failed := news{peer: to, incarnation: card.Incarnation, kind: ended, why: transport.EvidenceLost}
	var worth func() bool
	if end.pidfd >= 0 {
		worth = func() bool { return d.board.dialling(to, card.Incarnation) && !exits(end.pidfd, 0) }
	}
	deadline, last := time.Now().Add(d.limit), false
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		if end.exited || end.pidfd >= 0 && exits(end.pidfd, 0) {
			failed.why = transport.EvidenceExited
			return failed
		}
		if !d.board.dialling(to, card.Incarnation) {
			return failed
		}
		begin := time.Now()
		via, v, _, err := d.try(ctx, max(time.Until(deadline), min(d.limit, lastAttempt)), to, card, toConnect, worth)
		switch {
		case err == nil && v == accepted:
			return news{peer: to, incarnation: card.Incarnation, kind: connected, via: via}
		case err == nil && v == eviction:
			failed.why = transport.EvidenceEviction
			return failed
		case err == nil && v == goneHere, errors.Is(err, handshake.ErrVersion), errors.Is(err, errApart):
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
		if end.pidfd >= 0 && (stopped(card.Pid) || time.Since(begin) > lastAttempt) {
			deadline = time.Now().Add(d.limit)
		}
		handshake.Pause(ctx, wait)
		last = time.Now().After(deadline)
	}
}

// try dials once, for so long, or, if worth isn't nil, for as long as it says that the handshake is worth it. The medium
// is the caller's if the verdict is accepted.
func (d *dialler) try(ctx context.Context, limit time.Duration, to proto.Proc, card Card, why purpose, worth func() bool) (medium, verdict, standing, error) {
	end := time.Now().Add(limit)
	reach, cancel := context.WithDeadline(ctx, end)
	conn, err := d.reach(reach, card)
	cancel()
	if err != nil {
		return medium{}, 0, standing{}, err
	}
	defer conn.Close()
	// The end of ctx ends the handshake, too.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	talk := conn
	if worth != nil {
		defer attend(conn, worth)()
	} else {
		if last := time.Now().Add(handshakeLimit); end.After(last) {
			end = last
		}
		conn.SetDeadline(end)
		talk = &patient{Conn: conn}
	}
	v, s, err := d.dial(talk, to, card.Incarnation, why)
	if err != nil || v != accepted {
		return medium{}, v, s, err
	}
	via, err := d.takeOver(conn, shm.Offer, card.Pid)
	return via, v, s, err
}

// attend closes a connection without a deadline when it isn't worth going on with, until stop is called.
func attend(conn net.Conn, worth func() bool) (stop func()) {
	over := make(chan struct{})
	var attending sync.WaitGroup
	attending.Go(func() {
		tick := time.NewTicker(attention)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if !worth() {
					conn.Close()
					return
				}
			}
		}
	})
	return func() {
		close(over)
		attending.Wait()
	}
}

// patient is a connection that gives its peer more time once that has said
// something: after a proof the link may be up for the peer, and there is no second
// attempt.
type patient struct {
	net.Conn
	heard bool
}

func (c *patient) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard {
		c.heard = true
		c.Conn.SetDeadline(time.Now().Add(handshakeLimit))
	}
	return n, err
}

// errApart is about a peer that only a medium reaches which isn't allowed.
var errApart = errors.New("it shares no memory with this process, and no other medium is allowed")

// reach connects to a peer's listener: where memory can be shared, to the one for
// that. Should it be out of reach all the same, TCP does.
func (d *dialler) reach(ctx context.Context, card Card) (net.Conn, error) {
	var nd net.Dialer
	switch {
	case d.own != nil && d.card.near(card):
		conn, err := nd.DialContext(ctx, "unix", card.socket())
		if err == nil {
			if err = checkPeer(conn, card.Pid); err != nil {
				conn.Close()
				return nil, err
			}
			return conn, nil
		}
		if d.media == SharedMemory || errors.Is(err, unix.EAGAIN) || ctx.Err() != nil {
			return nil, err
		}
	case d.media == SharedMemory:
		return nil, errApart
	}
	return nd.DialContext(ctx, "tcp", card.Addr)
}

// takeOver takes a new connection out of the hands of package net. Over a unix
// socket both ends agree on shared memory, by Offer and Accept.
func (d *dialler) takeOver(conn net.Conn, agree func(*net.UnixConn, shm.Own) (*shm.Link, error), pid int) (via medium, err error) {
	via.pid = pid
	local, ok := conn.(*net.UnixConn)
	if ok {
		if via.link, err = agree(local, *d.own); err != nil {
			return medium{}, err
		}
	}
	if via.fd, err = tcp.TakeOver(conn.(syscall.Conn)); err != nil && ok {
		via.link.Close()
	}
	return via, err
}

// checkPeer says whether the other end of a unix socket is the process it should be.
func checkPeer(conn net.Conn, pid int) error {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	raw, err := local.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var errno error
	if err := raw.Control(func(fd uintptr) {
		peer, errno = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if errno != nil {
		return errno
	}
	if int(peer.Pid) != pid || int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: at the other end is process %d of user %d", handshake.ErrStranger, peer.Pid, peer.Uid)
	}
	return nil
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
func (d *dialler) inquire(ctx context.Context, p proto.Proc, incarnation proto.Incarnation, pidfd int) {
	d.board.post(news{peer: p, incarnation: incarnation, kind: ended, why: d.inquest(ctx, p, incarnation, pidfd)})
}

func (d *dialler) inquest(ctx context.Context, p proto.Proc, incarnation proto.Incarnation, pidfd int) transport.Evidence {
	if pidfd >= 0 {
		defer handle{pidfd: pidfd}.close()
		if exits(pidfd, exitGrace) {
			return transport.EvidenceExited
		}
	}
	card, err := d.cardOf(p, incarnation)
	if err != nil {
		return evidenceOf(err)
	}
	switch v, _, err := d.question(ctx, p, card, toAsk); {
	case err == nil && v == eviction:
		return transport.EvidenceEviction
	case pidfd < 0 && errors.Is(err, unix.ECONNREFUSED):
		// The other host answers that nobody listens: a process keeps its
		// listener as long as it lives.
		return transport.EvidenceExited
	}
	return transport.EvidenceLost
}

// hush tells the owner when a dead peer's stream should have ended.
func (d *dialler) hush(ctx context.Context, p proto.Proc, incarnation proto.Incarnation) {
	select {
	case <-ctx.Done():
	case <-time.After(quietSpan):
		d.board.post(news{peer: p, incarnation: incarnation, kind: quiet})
	}
}
