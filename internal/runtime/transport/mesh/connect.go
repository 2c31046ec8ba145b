package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/transport/tcp"
)

const (
	// handshakeLimit bounds one handshake.
	handshakeLimit = 5 * time.Second
	// dialLimit bounds all attempts to reach a peer, unless Config.Reach does, except for a last
	// one of lastAttempt: this process may have been stopped in the middle of the one before.
	dialLimit   = 5 * time.Second
	lastAttempt = time.Second
	// The pause between two attempts doubles from one to the next.
	firstPause = time.Millisecond
	lastPause  = 200 * time.Millisecond
	// recheck is how often a handshake without a deadline is checked for its use.
	recheck = 100 * time.Millisecond
)

// dialler makes outgoing connections. Its methods run on goroutines of their own and report the
// outcome to the link table.
type dialler struct {
	party
	card    Card
	resolve func(proto.Proc) (Card, error)
	table   *linkTable
	media   Media
	own     *shm.Own // nil: no shared memory
	refusal func(error, net.Addr)
	limit   time.Duration // Config.Reach
}

// connect reaches a peer, unless the peer is dead or reaches this process first.
func (d *dialler) connect(ctx context.Context, to proto.Proc, incarnation proto.Incarnation) {
	card, err := d.awaitCard(ctx, to, incarnation)
	if err != nil {
		d.refusal(fmt.Errorf("resolve %v: %w", to, err), nil)
		d.table.finishDial(news{peer: to, incarnation: incarnation, kind: ended, why: transport.EvidenceLost})
		return
	}
	outcome := d.outgoing(to, card).run(ctx)
	if !d.table.finishDial(outcome) {
		outcome.discard()
	}
}

// outgoing is the state of the attempts to connect to one peer.
type outgoing struct {
	*dialler
	to       proto.Proc
	card     Card
	process  handle    // the peer's
	deadline time.Time // no attempt begins after it, except for the last
	last     bool      // the present attempt is the last
}

func (d *dialler) outgoing(to proto.Proc, card Card) *outgoing {
	process := d.watch(card.Host == d.card.Host, card.Pid, card.Start)
	return &outgoing{dialler: d, to: to, card: card, process: process, deadline: time.Now().Add(d.limit)}
}

// run dials until there is a connection, or there can't be one. A live peer on this host has all
// the time it takes to answer, whether it is stopped, in a debugger or starved: its observer
// decides whether it counts as dead.
func (o *outgoing) run(ctx context.Context) news {
	for pause := (handshake.Backoff{Next: firstPause, Max: lastPause}); ; {
		if o.process.ended() {
			return o.failed(transport.EvidenceExited)
		}
		if !o.wanted() {
			return o.failed(transport.EvidenceLost)
		}
		begin := time.Now()
		via, v, err := o.attempt(ctx)
		switch {
		case err == nil && v == accepted:
			return news{peer: o.to, incarnation: o.card.Incarnation, kind: connected, via: via, end: o.process}
		case err == nil && v == eviction:
			return o.failed(transport.EvidenceEviction)
		case err == nil && v == goneHere:
			return o.failed(transport.EvidenceLost)
		case errors.Is(err, handshake.ErrVersion), errors.Is(err, errApart), errors.Is(err, seal.ErrUnlike):
			o.refusal(fmt.Errorf("connect to %v: %w", o.to, err), nil)
			return o.failed(transport.EvidenceLost)
		case o.last || ctx.Err() != nil:
			if err == nil {
				err = fmt.Errorf("refused: %v", v)
			}
			o.refusal(fmt.Errorf("connect to %v at %s: %w", o.to, o.card.Addr, err), nil)
			return o.failed(transport.EvidenceLost)
		}
		o.extend(begin)
		pause.Pause(ctx)
		o.last = time.Now().After(o.deadline)
	}
}

// wanted says whether a connection is still needed.
func (o *outgoing) wanted() bool { return o.table.dialling(o.to, o.card.Incarnation) }

// attempt dials once. A peer whose process is watched has time to answer until it ends, or isn't
// wanted any more.
func (o *outgoing) attempt(ctx context.Context) (medium, verdict, error) {
	limit := bound{limit: max(time.Until(o.deadline), min(o.limit, lastAttempt))}
	if o.process.pidfd >= 0 {
		limit.while = func() bool { return o.wanted() && !o.process.ended() }
	}
	via, v, _, err := o.try(ctx, limit, o.to, o.card, toConnect)
	return via, v, err
}

// extend sets the deadline anew if the peer on this host was stopped, or kept the attempt waiting.
func (o *outgoing) extend(begin time.Time) {
	if o.process.pidfd >= 0 && (stopped(o.card.Pid) || time.Since(begin) > lastAttempt) {
		o.deadline = time.Now().Add(o.limit)
	}
}

// failed is the news that there will be no connection.
func (o *outgoing) failed(why transport.Evidence) news {
	o.process.close()
	return news{peer: o.to, incarnation: o.card.Incarnation, kind: ended, why: why}
}

// bound is how long one attempt may take.
type bound struct {
	limit time.Duration // to reach the peer, and for the handshake if while is nil
	while func() bool   // the handshake goes on as long as it says yes
}

// try dials once. If the verdict is accepted, the medium is the caller's.
func (d *dialler) try(ctx context.Context, limit bound, to proto.Proc, card Card, why purpose) (medium, verdict, standing, error) {
	end := time.Now().Add(limit.limit)
	conn, err := d.reach(ctx, end, card)
	if err != nil {
		return medium{}, 0, standing{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })() // the end of ctx ends the handshake
	talk := conn
	if limit.while != nil {
		defer keepOpenWhile(conn, limit.while)()
	} else {
		talk = newPatient(conn, end)
	}
	v, s, keys, err := d.dial(talk, to, card.Incarnation, why, d.wish(conn, why))
	if err != nil || v != accepted {
		return medium{}, v, s, err
	}
	via, err := d.takeOver(conn, shm.Offer, card.Pid)
	via.keys = keys
	return via, v, s, err
}

// keepOpenWhile closes a connection without a deadline as soon as wanted says no. It stops asking
// when stop is called.
func keepOpenWhile(conn net.Conn, wanted func() bool) (stop func()) {
	var mu sync.Mutex // held while wanted is asked, and until there is a timer
	over := false
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(recheck, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case wanted():
			timer.Reset(recheck)
		default:
			conn.Close()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		timer.Stop()
	}
}

// patient is a connection that gives its peer more time once the peer has said something: after
// this side's proof the link may be up for the peer, and there is no second attempt.
type patient struct {
	net.Conn
	heard bool
}

// newPatient gives the peer time until end to say something, but at most handshakeLimit.
func newPatient(conn net.Conn, end time.Time) *patient {
	if latest := time.Now().Add(handshakeLimit); end.After(latest) {
		end = latest
	}
	conn.SetDeadline(end)
	return &patient{Conn: conn}
}

func (c *patient) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard {
		c.heard = true
		c.Conn.SetDeadline(time.Now().Add(handshakeLimit))
	}
	return n, err
}

// errApart is about a peer that could only be reached over a medium that isn't allowed.
var errApart = errors.New("it shares no memory with this process, and no other medium is allowed")

// reach connects to a peer's listener by a deadline: to the one at the unix socket, where memory
// can be shared. If that is out of reach all the same, it connects over TCP.
func (d *dialler) reach(ctx context.Context, deadline time.Time, card Card) (net.Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
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

// takeOver takes a new connection away from package net. Over a unix socket both ends agree on
// shared memory, by Offer and Accept.
func (d *dialler) takeOver(conn net.Conn, agree func(*net.UnixConn, shm.Own) (*shm.Link, error), pid int) (via medium, err error) {
	via.pid = pid
	local, ok := conn.(*net.UnixConn)
	if ok {
		if via.link, err = agree(local, *d.own); err != nil {
			return medium{}, err
		}
	}
	if via.fd, err = tcp.TakeOver(conn.(tcp.Conn)); err != nil && ok {
		via.link.Close()
	}
	return via, err
}

// checkPeer says whether the other end of a unix socket is the process that it should be.
func checkPeer(conn net.Conn, pid int) error {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	peer, user, err := handshake.Peer(local)
	if err == nil && (peer != pid || user != os.Geteuid()) {
		err = fmt.Errorf("%w: at the other end is process %d of user %d", handshake.ErrStranger, peer, user)
	}
	return err
}

// watch opens the handle of a peer's process.
func (d *dialler) watch(sameHost bool, pid int, start uint64) handle {
	if !sameHost {
		return handle{pidfd: -1}
	}
	fd, err := openPidfd(pid, start)
	return handle{pidfd: fd, exited: errors.Is(err, errNoProcess)}
}
