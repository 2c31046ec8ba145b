package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
)

// listener takes incoming connections, for the same party as its dialler.
type listener struct {
	*dialler
	gate handshake.Gate
}

// serve accepts connections until the socket is closed and ctx ends.
func (l *listener) serve(ctx context.Context, socket net.Listener) {
	greet := func(conn net.Conn, proven func()) {
		defer conn.Close()
		c := &incoming{listener: l, conn: conn, proven: proven, process: handle{pidfd: -1}}
		c.greet(ctx)
	}
	l.gate.Serve(ctx, socket, greet, func(err error) { l.refusal(err, nil) })
}

// incoming is a connection from a dialler.
type incoming struct {
	*listener
	conn    net.Conn
	proven  func() // the dialler has proved that it is of the job
	hello   *hello // what it says
	process handle // its process, once it is accepted
}

// greet runs the handshake. It reports the connection to the owner if the dialler is accepted.
func (c *incoming) greet(ctx context.Context) {
	c.conn.SetDeadline(time.Now().Add(handshakeLimit))
	var v verdict
	var keys *seal.Keys
	var err error
	if c.hello, v, keys, err = c.accept(c.conn, c.judge); v != accepted {
		if err != nil {
			c.refusal(err, c.conn.RemoteAddr())
		}
		return
	}
	// From here on the link counts as up: its end has to be reported, too.
	var via medium
	if err == nil {
		via, err = c.agree()
	}
	if err != nil {
		c.fail(ctx, err)
		return
	}
	via.keys = keys
	c.table.post(c.news(connected, via))
}

// news is about the dialler. News of a connection hold its medium and process.
func (c *incoming) news(kind newsKind, via medium) news {
	return news{peer: c.hello.from, incarnation: c.hello.fromIncarnation, kind: kind, via: via, end: c.process}
}

// judge is the verdict on a dialler that has proved that it is of the job.
func (c *incoming) judge(h *hello) verdict {
	c.proven()
	if err := c.mayConnect(h); err != nil {
		c.refusal(err, nil)
		return goneHere
	}
	v := c.table.judge(h.from, h.fromIncarnation, h.purpose)
	switch v {
	case acknowledged:
		// This process must know that it is excluded before the dialler hears so.
		c.table.post(news{peer: h.from, incarnation: h.fromIncarnation, kind: ended, why: transport.EvidenceEviction})
	case accepted:
		c.process = c.watch(h.host == c.party.host, h.pid, h.start)
		if c.process.pidfd >= 0 {
			// Either process may be stopped now, for however long: the other waits.
			c.conn.SetDeadline(time.Time{})
		}
	}
	return v
}

// mayConnect says why a dialler can't have a connection over this socket.
func (c *incoming) mayConnect(h *hello) error {
	_, local := c.conn.(*net.UnixConn)
	if c.media == SharedMemory && !local && h.purpose == toConnect {
		return fmt.Errorf("%v: %w", h.from, errApart)
	}
	return checkPeer(c.conn, h.pid)
}

// agree makes a medium with the accepted dialler. A dialler on this host has time for it as long
// as it lives.
func (c *incoming) agree() (medium, error) {
	if c.process.pidfd >= 0 {
		defer keepOpenWhile(c.conn, func() bool { return !c.process.ended() })()
	}
	via, err := c.takeOver(c.conn, shm.Accept, c.hello.pid)
	return via, handshake.MarkHangUp(err)
}

// fail ends a link whose dialler was accepted, but with which there is no medium.
func (c *incoming) fail(ctx context.Context, err error) {
	defer c.process.close()
	c.refusal(err, c.conn.RemoteAddr())
	why := transport.EvidenceLost
	switch {
	case c.process.exited || c.process.pidfd >= 0 && exits(c.process.pidfd, exitGrace):
		why = transport.EvidenceExited
	case c.process.pidfd >= 0 && errors.Is(err, handshake.ErrHungUp):
		// The dialler lives, and doesn't know that it was accepted: now this side dials.
		c.conn.Close()
		if c.table.retract(c.hello.from, c.hello.fromIncarnation) {
			c.connect(ctx, c.hello.from, c.hello.fromIncarnation)
		}
		return
	}
	c.table.post(news{peer: c.hello.from, incarnation: c.hello.fromIncarnation, kind: ended, why: why})
}
