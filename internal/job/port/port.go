// Package port is where the leaders of two groups of processes, of one job or of two, find each
// other: MPI_Open_port, and what MPI_Comm_accept and MPI_Comm_connect begin with. It drives the
// machine of package internal/proto/port: a listener, the callers at it, and the calls that
// accept them. What the leaders say to each other then, on a [Line], is up to its users.
//
// # Invariants
//
//   - Nobody gets in without the port's name. The name has a secret, which both sides prove to
//     know without showing it, and what they say is encrypted (packages handshake and seal).
//   - Every wait ends when the other side dies, closes the port, or at its time limit, if it has
//     one.
//
// # Limits
//
// A process whose host vanishes is noticed after some 11 s (keepalives of TCP). A name is for the
// user whose jobs are to connect: who gets hold of it can connect, too.
package port

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"banyan/internal/proto/port"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

// protocol is that of callers at ports.
var protocol = &handshake.Protocol{
	Name:  "banyan port",
	Magic: [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', 'P'},
	Min:   1, Max: 1,
	Framing: handshake.Framing{Hello: 8, Answer: 8},
}

// greeting is the payload of both sides: there is nothing to say yet.
var greeting = make([]byte, 8)

// proofLimit bounds a handshake.
const proofLimit = 5 * time.Second

// keepAlive makes a connection fail some 11 s after the other side's machine has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// ErrClosed says that the port was closed.
var ErrClosed = errors.New("the port has been closed")

// Port is an open port. Its methods may be called from several goroutines.
type Port struct {
	name     name
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	serving  sync.WaitGroup

	mu      sync.Mutex
	machine port.Machine
	callers map[int]*caller
	calls   map[int]chan *caller // nil, when it ends without one
	proving map[net.Conn]bool    // without a proof yet
	last    int                  // number of a caller or a call
	closed  bool
}

// caller is one that has called.
type caller struct {
	line  *Line
	bound chan struct{} // closed when a call has it
}

// word is a message between a port and a caller.
type word struct {
	Kind string `json:"kind"` // offer, take, bind or refuse
}

var words = map[port.Kind]string{port.Offer: "offer", port.Bind: "bind", port.Refuse: "refuse"}

// Open opens a port at an address of this host.
func Open(host string) (*Port, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("no port can be opened: %w", err)
	}
	p := &Port{name: name{listener.Addr().String(), make([]byte, secretSize)}, listener: listener,
		callers: make(map[int]*caller), calls: make(map[int]chan *caller), proving: make(map[net.Conn]bool)}
	rand.Read(p.name.secret)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.serving.Go(func() {
		var gate handshake.Gate
		gate.Serve(context.Background(), listener, p.greet, func(error) {})
	})
	return p, nil
}

// Name is what callers must know.
func (p *Port) Name() string { return p.name.String() }

// greet lets a caller in. What is said to it afterwards isn't the gate's business any more: that
// would close the lines of those that have been accepted when the port is closed.
func (p *Port) greet(conn net.Conn, proven func()) {
	p.mu.Lock()
	p.proving[conn] = true
	closed := p.closed
	p.mu.Unlock()
	if closed {
		conn.Close()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(keepAlive)
	}
	conn.SetDeadline(time.Now().Add(proofLimit))
	keys, err := protocol.AcceptSealed(conn, p.name.secret, handshake.Judge{
		Answer: func([]byte) ([]byte, error) { return greeting, nil },
		Sealed: func([]byte) bool { return true },
	})
	p.mu.Lock()
	delete(p.proving, conn)
	p.mu.Unlock()
	if err != nil {
		conn.Close()
		return
	}
	proven()
	conn.SetDeadline(time.Time{})
	p.serving.Go(func() { p.serve(&caller{NewLine(seal.NewConn(conn, *keys)), make(chan struct{})}) })
}

// serve serves a caller until a call has it, or one of them goes.
func (p *Port) serve(c *caller) {
	var id int
	closed := false
	p.step(func(out *port.Actions) {
		p.last++
		id, closed = p.last, p.closed
		p.callers[id] = c
		p.machine.Arrive(id, out)
	})
	defer p.drop(id)
	if closed { // it was refused; Close doesn't know of it, and waits for this
		return
	}
	var w word
	if err := c.line.Hear(&w); err != nil || w.Kind != "take" {
		p.step(func(out *port.Actions) { p.machine.Gone(id, out) })
		return
	}
	p.step(func(out *port.Actions) { p.machine.Take(id, out) })
	select {
	case <-c.bound: // what it says from now on is the call's
	case <-p.ctx.Done():
	}
}

// drop ends the line of a caller that no call has.
func (p *Port) drop(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.callers[id]; c != nil {
		c.line.Close()
		delete(p.callers, id)
	}
}

// step has the machine step, and acts.
func (p *Port) step(f func(out *port.Actions)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out port.Actions
	f(&out)
	for _, a := range out {
		switch a.Kind {
		case port.Matched:
			c := p.callers[a.Caller]
			delete(p.callers, a.Caller)
			close(c.bound)
			p.calls[a.Call] <- c
			delete(p.calls, a.Call)
		case port.Ended:
			p.calls[a.Call] <- nil
			delete(p.calls, a.Call)
		default:
			c := p.callers[a.Caller]
			c.line.conn.SetWriteDeadline(time.Now().Add(proofLimit)) // a few bytes: there is room
			_ = c.line.Say(word{words[a.Kind]})                      // if it is gone, greet sees that
			c.line.conn.SetWriteDeadline(time.Time{})
		}
	}
}

// Accept waits for a caller. A limit of 0 is none.
func (p *Port) Accept(limit time.Duration) (*Line, error) { return p.AcceptUntil(nil, limit) }

// AcceptUntil is Accept, which stop ends, too.
func (p *Port) AcceptUntil(stop <-chan struct{}, limit time.Duration) (*Line, error) {
	done := make(chan *caller, 1)
	var call int
	p.step(func(out *port.Actions) {
		p.last++
		call = p.last
		p.calls[call] = done
		p.machine.Accept(call, out)
	})
	why := ErrClosed
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case c := <-done:
			if c == nil {
				return nil, why
			}
			return c.line, nil
		case <-late:
			why, late = ErrLate, nil
		case <-stop:
			why, stop = ErrEnded, nil
		}
		p.step(func(out *port.Actions) { p.machine.Cancel(call, out) })
	}
}

// Close closes the port. Those that wait there are told. It may be called again.
func (p *Port) Close() {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return
	}
	p.step(func(out *port.Actions) { p.machine.Close(out) })
	p.listener.Close()
	p.cancel()
	p.mu.Lock()
	for conn := range p.proving {
		conn.Close()
	}
	for id, c := range p.callers {
		c.line.Close()
		delete(p.callers, id)
	}
	p.mu.Unlock()
	p.serving.Wait()
}

// Call calls at a port, and waits until it is accepted there. A limit of 0 is none.
func Call(at string, limit time.Duration) (*Line, error) {
	n, err := parseName(at)
	if err != nil {
		return nil, &NameError{err}
	}
	reach := proofLimit
	deadline := time.Time{}
	if limit > 0 {
		deadline = time.Now().Add(limit)
		reach = min(reach, limit)
	}
	conn, _, keys, err := protocol.ConnectSealed(context.Background(), &net.Dialer{KeepAliveConfig: keepAlive}, n.address, reach, n.secret, greeting)
	if err != nil {
		return nil, &NameError{fmt.Errorf("nobody listens at the port %.80s (any more): %w", prefix+n.address, err)}
	}
	line := NewLine(seal.NewConn(conn, keys))
	conn.SetDeadline(deadline)
	machine := port.Caller{}
	for machine.State <= port.Took {
		var w word
		if err := line.Hear(&w); err != nil {
			machine.Lose()
			line.Close()
			return nil, err
		}
		kind := port.Matched // nothing that a port says
		for k, text := range words {
			if text == w.Kind {
				kind = k
			}
		}
		if machine.Hear(kind) {
			if err := line.Say(word{"take"}); err != nil {
				line.Close()
				return nil, err
			}
		}
	}
	conn.SetDeadline(time.Time{})
	switch machine.State {
	case port.Bound:
		return line, nil
	case port.Refused:
		line.Close()
		return nil, ErrClosed
	}
	line.Close()
	return nil, ErrEnded
}

// NameError is about a name that is none, or of a port that isn't there.
type NameError struct{ err error }

func (e *NameError) Error() string { return e.err.Error() }
func (e *NameError) Unwrap() error { return e.err }
