package steward

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
	"banyan/internal/runtime/handshake"
)

const (
	// ahead bounds the messages that wait for a connection. Later ones are dropped.
	ahead = 256
	// slow bounds the time that a handshake or a message may take.
	slow = 2 * time.Second
	// silent bounds the time in which the other side confirms nothing of what was sent. The kernel
	// would send again for minutes, each time after twice as long: after a cut of some seconds
	// nothing would get through for as long again, and a lease would be over.
	silent = time.Second
	// connecting bounds the time until the other host's kernel answers, for the same reason.
	connecting = time.Second
	// firstPause and mostPause are between attempts to connect.
	firstPause, mostPause = 20 * time.Millisecond, 500 * time.Millisecond
)

// Listener takes the connections of other parties.
type Listener struct{ socket net.Listener }

// Close closes the port. A Driver that was given the Listener does so itself.
func (l *Listener) Close() { l.socket.Close() }

// Listen opens a port for the other parties. The address is as net.Listen has it for TCP.
func Listen(address string) (*Listener, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("no port for the other agents: %w", err)
	}
	return &Listener{socket}, nil
}

// Address is where the Listener is.
func (l *Listener) Address() string { return l.socket.Addr().String() }

// Addresses are where other hosts find it.
func (l *Listener) Addresses() []string {
	return remote.Addresses(l.socket.Addr().(*net.TCPAddr).Port)
}

// serve passes on what others say to self, until ctx ends.
func (l *Listener) serve(ctx context.Context, key secure.Key, self steward.Host, heard func(*steward.Message)) {
	defer context.AfterFunc(ctx, func() { l.socket.Close() })() // ends Accept
	var gate handshake.Gate
	gate.Serve(ctx, l.socket, func(conn net.Conn, proven func()) {
		limited, cancel := context.WithTimeout(ctx, slow)
		defer cancel()
		c, number, err := secure.Accept(limited, conn, key)
		if err != nil {
			slog.Debug("steward: refused", "from", conn.RemoteAddr(), "err", err)
			return
		}
		defer c.Close()
		proven()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		from := gob.NewDecoder(c)
		var meant steward.Host
		if from.Decode(&meant) != nil || meant != self {
			return // an address may be that of several hosts
		}
		for {
			m := new(steward.Message)
			if err := from.Decode(m); err != nil || int(m.From) != number {
				return // it has gone, or speaks for another one
			}
			heard(m)
		}
	}, func(err error) { slog.Debug("steward: listener", "err", err) })
}

// peer is another party, to which this one has something to say.
type peer struct {
	host   steward.Host
	outbox chan *steward.Message
}

// send sends a message, if the other party can take it.
func (d *Driver) send(to steward.Host, m *steward.Message) {
	p := d.peers[to]
	if p == nil {
		addresses := d.cfg.Addresses[to]
		if len(addresses) == 0 {
			return
		}
		p = &peer{to, make(chan *steward.Message, ahead)}
		d.peers[to] = p
		d.all.Go(func() { d.speak(p, addresses) })
	}
	select {
	case p.outbox <- m:
	default:
	}
}

// speak sends what is to be sent over one connection after the other. It tries the addresses in
// turn. A connection that breaks is a hint to the machine.
func (d *Driver) speak(p *peer, addresses []string) {
	pause := handshake.Backoff{Next: firstPause, Max: mostPause}
	for at := 0; ; {
		c, err := d.dial(addresses[at%len(addresses)])
		if err == nil {
			pause.Next = firstPause
			err = d.sendAll(p, c)
			d.call(func(now proto.Time, out *[]steward.Action) { d.machine.Closed(now, p.host, out) })
		} else {
			at++
		}
		slog.Debug("steward: connection", "self", d.cfg.Machine.Self, "to", p.host, "err", err)
		if !pause.Pause(d.ctx) {
			return
		}
		for n := len(p.outbox); n > 0; n-- { // what waited is old
			<-p.outbox
		}
	}
}

func (d *Driver) dial(address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, slow)
	defer cancel()
	dialer := net.Dialer{Timeout: connecting}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if raw, err := conn.(*net.TCPConn).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silent/time.Millisecond))
		})
	}
	return secure.Dial(ctx, conn, d.cfg.Key, int(d.cfg.Machine.Self))
}

func (d *Driver) sendAll(p *peer, c net.Conn) error {
	defer c.Close()
	defer context.AfterFunc(d.ctx, func() { c.Close() })()
	gone := make(chan struct{})
	go func() { // nothing comes, but the end
		defer close(gone)
		io.Copy(io.Discard, c)
	}()
	to := gob.NewEncoder(c)
	c.SetWriteDeadline(time.Now().Add(slow))
	if err := to.Encode(p.host); err != nil {
		return err
	}
	for {
		select {
		case m := <-p.outbox:
			c.SetWriteDeadline(time.Now().Add(slow))
			if err := to.Encode(m); err != nil {
				return err
			}
		case <-gone:
			return net.ErrClosed
		case <-d.ctx.Done():
			return d.ctx.Err()
		}
	}
}
