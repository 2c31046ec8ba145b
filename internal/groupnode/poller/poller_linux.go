package poller

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Poller waits for the connections that were added to it.
type Poller struct {
	epoll    *os.File // which the Go runtime's poller watches, so that no thread waits in the kernel
	raw      syscall.RawConn
	turn     func(fd uintptr) bool
	look     func(fd uintptr)
	deadline time.Time // as it was set last
	woken    atomic.Bool
	events   [64]syscall.EpollEvent
	buffer   [4096]byte

	mu         sync.Mutex
	sockets    map[int]*Socket // by descriptor
	generation int32
	closed     bool
}

// Socket is a connection. Its methods may be called from any goroutine.
type Socket struct {
	poller     *Poller
	handler    Handler
	number     int   // of the descriptor, for good
	generation int32 // tells it from earlier sockets of that number

	mu   sync.Mutex
	open bool
}

// New makes a Poller. Close must be called.
func New() (*Poller, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // says that it can be watched
		syscall.Close(fd)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	p := &Poller{epoll: os.NewFile(uintptr(fd), "epoll"), sockets: map[int]*Socket{}}
	p.turn = func(fd uintptr) bool { return p.serve(int(fd)) }
	p.look = func(fd uintptr) {
		for i := 0; i < looks && p.serve(int(fd)); i++ {
		}
	}
	if p.raw, err = p.epoll.SyscallConn(); err != nil {
		p.epoll.Close()
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return p, nil
}

// Wait calls the handlers of what has happened. It returns when it has called some, at the
// deadline, or after Wake or Close. One goroutine may call it at a time. The zero deadline never
// comes.
func (p *Poller) Wait(deadline time.Time) error {
	if p.woken.Load() || !deadline.Equal(p.deadline) {
		p.deadline = deadline
		if err := p.epoll.SetReadDeadline(deadline); err != nil {
			return p.failed(err)
		}
		if p.woken.Swap(false) { // its deadline may have been the earlier one
			p.deadline = time.Time{}
			p.epoll.SetReadDeadline(p.deadline)
			return nil
		}
	}
	// The function is called at once, and again after each event, until it says that it is done.
	err := p.raw.Read(p.turn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// What has come already comes before what time brings: a process that was stopped must not
		// take the others for silent.
		p.deadline = past // it must be set anew
		return p.failed(p.raw.Control(p.look))
	}
	return p.failed(err)
}

// failed is an error of a Poller that isn't closed.
func (p *Poller) failed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || p.closed {
		return nil
	}
	return fmt.Errorf("epoll: %w", err)
}

// Wake makes the present call of Wait return, or the next one.
func (p *Poller) Wake() {
	if !p.woken.Swap(true) {
		p.epoll.SetReadDeadline(past) // an error means that it is closed
	}
}

// past is before all deadlines.
var past = time.Unix(1, 0)

// looks bounds how much is taken in at a deadline.
const looks = 16

// serve serves the sockets that are ready, and says whether there were any. It is called until
// there are none before anybody waits: the kernel keeps a socket that was ready in a list until it
// finds that it isn't any more, and a change of what is watched for wakes nobody as long as the
// socket is in that list.
func (p *Poller) serve(fd int) (more bool) {
	n, err := syscall.EpollWait(fd, p.events[:], 0)
	if err != nil {
		return err == syscall.EINTR // else the descriptor is closed
	}
	for _, e := range p.events[:n] {
		p.mu.Lock()
		s := p.sockets[int(e.Fd)]
		p.mu.Unlock()
		if s == nil || s.generation != e.Pad {
			continue // closed meanwhile
		}
		if e.Events&syscall.EPOLLOUT != 0 {
			s.watch(reading)
			s.handler.Room()
		}
		// What is at its end is read to its end: there is no further event.
		if ending := e.Events&^(syscall.EPOLLIN|syscall.EPOLLOUT) != 0; ending || e.Events&syscall.EPOLLIN != 0 {
			s.take(ending)
		}
	}
	return n > 0
}

// take hands over what has come: all that there is, or all until the end.
func (s *Socket) take(ending bool) {
	for {
		n, err := s.read(s.poller.buffer[:])
		if n > 0 {
			err = s.handler.Bytes(s.poller.buffer[:n])
		}
		switch {
		case err == syscall.EAGAIN:
			return
		case err != nil:
			if s.shut() {
				s.handler.End(err)
			}
			return
		case n < len(s.poller.buffer) && !ending:
			return
		}
	}
}

func (s *Socket) read(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return 0, syscall.EAGAIN
	}
	for {
		switch n, err = syscall.Read(s.number, b); {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Add takes a connection over; it closes it if that fails. The Socket has a descriptor of its own,
// which the Go runtime doesn't watch.
func (p *Poller) Add(conn *net.TCPConn, h Handler) (*Socket, error) {
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd uintptr
	var errno syscall.Errno
	if err := raw.Control(func(theirs uintptr) {
		fd, _, errno = syscall.Syscall(syscall.SYS_FCNTL, theirs, syscall.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if errno != 0 {
		return nil, fmt.Errorf("a descriptor: %w", errno)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		syscall.Close(int(fd))
		return nil, ErrClosed
	}
	p.generation++
	s := &Socket{poller: p, handler: h, number: int(fd), generation: p.generation, open: true}
	if err := p.control(syscall.EPOLL_CTL_ADD, s, reading); err != nil {
		syscall.Close(int(fd))
		return nil, err
	}
	p.sockets[s.number] = s
	return s, nil
}

// What is watched for.
const (
	reading = syscall.EPOLLIN | syscall.EPOLLRDHUP
	both    = reading | syscall.EPOLLOUT
)

// control needs p.mu: Close may not close the descriptor meanwhile.
func (p *Poller) control(operation int, s *Socket, events uint32) error {
	var failed error
	err := p.raw.Control(func(fd uintptr) {
		failed = syscall.EpollCtl(int(fd), operation, s.number, &syscall.EpollEvent{Events: events, Fd: int32(s.number), Pad: s.generation})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	return nil
}

// watch changes what is watched for.
func (s *Socket) watch(events uint32) {
	s.poller.mu.Lock()
	defer s.poller.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open && !s.poller.closed {
		s.poller.control(syscall.EPOLL_CTL_MOD, s, events) // an error can only be that of a wrong argument
	}
}

// Write makes one attempt, and returns how many bytes went. After an error, which the Handler gets,
// it is none.
func (s *Socket) Write(b []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return 0
	}
	n, err := syscall.Write(s.number, b)
	if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		syscall.Shutdown(s.number, syscall.SHUT_RDWR) // so that the poller sees an end
	}
	return max(n, 0)
}

// AwaitRoom makes the Poller call Room once bytes can be written.
func (s *Socket) AwaitRoom() { s.watch(both) }

// Control calls f with the descriptor, unless the socket is closed.
func (s *Socket) Control(f func(fd uintptr)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		f(uintptr(s.number))
	}
}

// Close closes the connection. Handler.End isn't called any more, but a call of the Handler may be
// under way.
func (s *Socket) Close() { s.shut() }

// shut says whether this call has closed the socket.
func (s *Socket) shut() bool {
	s.mu.Lock()
	was := s.open
	if was {
		s.open = false
		syscall.Close(s.number)
	}
	s.mu.Unlock()
	if was {
		p := s.poller
		p.mu.Lock()
		if p.sockets[s.number] == s { // the number may be another's already
			delete(p.sockets, s.number)
		}
		p.mu.Unlock()
	}
	return was
}

// Close closes all sockets, and ends Wait.
func (p *Poller) Close() {
	p.mu.Lock()
	p.closed = true
	var all []*Socket
	for _, s := range p.sockets {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.Close()
	}
	p.epoll.Close()
}
