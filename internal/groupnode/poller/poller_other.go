//go:build !linux

package poller

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Poller waits for the connections that were added to it, with a goroutine for each.
type Poller struct {
	calls chan func()   // for Wait
	wake  chan struct{} // of capacity 1
	done  chan struct{} // closed by Close

	mu      sync.Mutex
	sockets map[*Socket]bool
	closed  bool
}

// Socket is a connection. Its methods may be called from any goroutine.
type Socket struct {
	poller  *Poller
	handler Handler
	conn    *net.TCPConn
	rooms   sync.Mutex  // held while Room is called
	waits   atomic.Bool // it is
	broken  atomic.Bool // nothing can be written any more

	mu   sync.Mutex
	open bool
}

// New makes a Poller. Close must be called.
func New() (*Poller, error) {
	return &Poller{calls: make(chan func()), wake: make(chan struct{}, 1), done: make(chan struct{}), sockets: map[*Socket]bool{}}, nil
}

// Wait calls the handlers of what has happened. It returns when it has called some, at the
// deadline, or after Wake or Close. One goroutine may call it at a time. The zero deadline never
// comes.
func (p *Poller) Wait(deadline time.Time) error {
	var timeout <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case f := <-p.calls:
		f()
	case <-p.wake:
	case <-p.done:
	case <-timeout:
		select { // what has come already comes before what time brings
		case f := <-p.calls:
			f()
		default:
		}
	}
	return nil
}

// Wake makes the present call of Wait return, or the next one.
func (p *Poller) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// do makes Wait call f, and waits for it.
func (p *Poller) do(f func()) {
	over := make(chan struct{})
	select {
	case p.calls <- func() { defer close(over); f() }:
		<-over
	case <-p.done:
	}
}

// Add takes a connection over; it closes it if that fails.
func (p *Poller) Add(conn *net.TCPConn, h Handler) (*Socket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return nil, ErrClosed
	}
	s := &Socket{poller: p, handler: h, conn: conn, open: true}
	p.sockets[s] = true
	go s.read()
	return s, nil
}

// read hands over what comes, until the end.
func (s *Socket) read() {
	buffer := make([]byte, 4096)
	for more := true; more; {
		n, err := s.conn.Read(buffer)
		more = err == nil
		s.poller.do(func() {
			if n > 0 && s.isOpen() {
				if failed := s.handler.Bytes(buffer[:n]); failed != nil {
					err, more = failed, false
				}
			}
			if err != nil && s.shut() {
				s.handler.End(err)
			}
		})
		more = more && s.isOpen()
	}
}

func (s *Socket) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Write writes nothing but within Room, where it waits: Go has no attempt that doesn't wait on all
// systems.
func (s *Socket) Write(b []byte) int {
	if !s.waits.Load() {
		return 0
	}
	n, err := s.conn.Write(b)
	if err != nil {
		s.broken.Store(true)
		s.conn.Close() // what reads it reports the end
	}
	return n
}

// AwaitRoom makes a goroutine call Room.
func (s *Socket) AwaitRoom() {
	if s.broken.Load() {
		return
	}
	go func() {
		s.rooms.Lock() // Room may have called AwaitRoom
		defer s.rooms.Unlock()
		s.waits.Store(true)
		s.handler.Room()
		s.waits.Store(false)
	}()
}

// Control would call f with the descriptor; nothing needs it here.
func (s *Socket) Control(func(fd uintptr)) {}

// Close closes the connection. Handler.End isn't called any more, but a call of the Handler may be
// under way.
func (s *Socket) Close() { s.shut() }

// shut says whether this call has closed the socket.
func (s *Socket) shut() bool {
	s.mu.Lock()
	was := s.open
	s.open = false
	s.mu.Unlock()
	if was {
		s.broken.Store(true)
		s.conn.Close()
		s.poller.mu.Lock()
		delete(s.poller.sockets, s)
		s.poller.mu.Unlock()
	}
	return was
}

// Close closes all sockets, and ends Run.
func (p *Poller) Close() {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	var all []*Socket
	for s := range p.sockets {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.Close()
	}
	if !was {
		close(p.done)
	}
}
