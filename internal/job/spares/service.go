package spares

import (
	"net"
	"slices"
	"sync"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
)

const (
	// maxUnsent is how many messages may wait for a peer that reads nothing.
	maxUnsent = 4096
	// parting is how long the last messages may take.
	parting = time.Second
)

// ServiceConfig describes the job of a spare that may become the spare leader.
type ServiceConfig struct {
	Layout  layout.Layout
	Spares  int
	Silence time.Duration // a spare leader that is silent for longer counts as gone
	Limit   time.Duration // of each phase of an attempt; 0: package recovery's
	Note    func(text string)
	// Refused is told of strangers that tried to connect.
	Refused func(error)
	// Ended says that the job is over. All other spares know it by then.
	Ended func(code int, text string)
}

// Service is a spare's Machine with its connections.
type Service struct {
	cfg      ServiceConfig
	listener *handshake.Listener
	begun    time.Time

	mu        sync.Mutex
	machine   *Machine
	out       []Action
	peers     map[int]*connection
	lastID    int     // of a connection
	client    *Client // this spare's own; nil: there is none yet
	announced uint64  // the latest term to which this spare must go on
	timer     *time.Timer
	over      bool
	ended     chan struct{} // closed when the others know that
}

// connection is a peer's.
type connection struct {
	conn   net.Conn
	unsent chan control.Message
	sent   chan struct{} // closed when nothing is sent any more
}

// Serve starts a spare's service, at an address where the others can reach it.
func Serve(meeting handshake.Meeting, host string, cfg ServiceConfig) (*Service, error) {
	listener, err := meeting.Listen(host)
	if err != nil {
		return nil, err
	}
	s := &Service{
		cfg: cfg, listener: listener, begun: time.Now(),
		machine: New(meeting.Self, cfg.Layout, cfg.Spares, cfg.Silence, cfg.Limit),
		peers:   map[int]*connection{}, ended: make(chan struct{}),
	}
	s.timer = time.AfterFunc(time.Hour, func() { s.step(s.machine.Tick) })
	go listener.Serve(s.accept, cfg.Refused)
	return s, nil
}

// Address is where the others find the service.
func (s *Service) Address() string { return s.listener.Address() }

// advances names this spare's own Client. It goes on to the terms that peers announce.
func (s *Service) advances(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
	c.advance(s.announced)
}

// setTerm says which term this spare takes for the present one.
func (s *Service) setTerm(term uint64) {
	s.step(func(now proto.Time, out *[]Action) { s.machine.SetTerm(now, term, out) })
}

// Outlast keeps a spare leader that itself leaves the job running until the other spares know that
// the job is over, or for at most so long.
func (s *Service) Outlast(limit time.Duration) {
	s.mu.Lock()
	leads := s.machine.phase != following
	s.mu.Unlock()
	if leads {
		select {
		case <-s.ended:
		case <-time.After(limit):
		}
	}
}

// accept serves a peer that has connected, until it goes.
func (s *Service) accept(conn net.Conn, from proto.Proc) {
	c := &connection{conn: conn, unsent: make(chan control.Message, maxUnsent), sent: make(chan struct{})}
	lines := control.NewConn(conn)
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		conn.Close()
		return
	}
	s.lastID++
	id := s.lastID
	s.peers[id] = c
	s.machine.Opened(id, from)
	s.mu.Unlock()
	go func() {
		defer close(c.sent)
		for m := range c.unsent {
			if lines.Send(m) != nil {
				// The peer may have gone. What it said before still counts.
				conn.SetReadDeadline(time.Now().Add(parting))
				return
			}
		}
		conn.Close() // wakes the reader below
	}()
	for {
		m, err := lines.Receive()
		if err != nil {
			break
		}
		s.step(func(now proto.Time, out *[]Action) { s.machine.Heard(now, id, m, out) })
	}
	conn.Close()
	s.step(func(now proto.Time, out *[]Action) {
		s.machine.Closed(now, id, out)
		s.release(id)
	})
}

// release ends a connection as soon as its queue is empty. The lock is held.
func (s *Service) release(id int) {
	if c := s.peers[id]; c != nil {
		delete(s.peers, id)
		close(c.unsent)
		c.conn.SetWriteDeadline(time.Now().Add(parting))
	}
}

// step has the machine do something, and carries out its actions.
func (s *Service) step(do func(now proto.Time, out *[]Action)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	now := proto.Time(time.Since(s.begun))
	do(now, &s.out)
	for _, a := range s.out {
		switch a.Kind {
		case Send:
			if c := s.peers[a.To]; c != nil {
				select {
				case c.unsent <- a.Message:
				default:
					c.conn.Close()
				}
			}
		case Drop:
			s.release(a.To)
		case Note:
			s.cfg.Note(a.Text)
		case Advance:
			if s.announced = max(s.announced, a.Term); s.client != nil {
				s.client.advance(a.Term)
			}
		case End:
			s.over = true
			go s.end(a.Code, a.Text)
		}
	}
	s.out = slices.Delete(s.out, 0, len(s.out))
	if deadline := s.machine.Deadline(); deadline != proto.Never && !s.over {
		s.timer.Reset(time.Duration(deadline - now))
	}
}

// end ends this spare when the others know that they are to end.
func (s *Service) end(code int, text string) {
	s.mu.Lock()
	var peers []*connection
	for id, c := range s.peers {
		peers = append(peers, c)
		s.release(id)
	}
	s.mu.Unlock()
	late := time.After(parting)
	for _, c := range peers {
		select {
		case <-c.sent:
		case <-late:
		}
	}
	s.listener.Close()
	close(s.ended)
	s.cfg.Ended(code, text)
}
