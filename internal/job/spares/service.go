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
	// maxUnsent is how many messages may wait for a guest that reads nothing.
	maxUnsent = 4096
	// parting is how long the last messages may take.
	parting = time.Second
)

// ServiceConfig says who a spare is that may become the spare leader.
type ServiceConfig struct {
	Layout  layout.Layout
	Spares  int
	Silence time.Duration // after which a spare leader counts as gone
	Limit   time.Duration // of each part of an attempt; 0: package recovery's
	Note    func(text string)
	// Refused is told of strangers.
	Refused func(error)
	// Ended says that the job is over, when all other spares know it.
	Ended func(code int, text string)
}

// Service is a spare's Machine with its connections.
type Service struct {
	cfg   ServiceConfig
	door  *handshake.Listener
	begun time.Time

	mu      sync.Mutex
	machine *Machine
	out     []Action
	guests  map[int]*connection
	last    int     // connection
	client  *Client // this spare's own; nil: there is none yet
	urged   uint64  // the latest turn that it is to go on to
	timer   *time.Timer
	over    bool
	ended   chan struct{} // closed when the others know that
}

// connection is a guest's.
type connection struct {
	conn   net.Conn
	unsent chan control.Message
	sent   chan struct{} // closed when nothing is sent any more
}

// Serve opens a spare's door, at an address where the others reach it.
func Serve(meeting handshake.Meeting, host string, cfg ServiceConfig) (*Service, error) {
	door, err := meeting.Listen(host)
	if err != nil {
		return nil, err
	}
	s := &Service{
		cfg: cfg, door: door, begun: time.Now(),
		machine: New(meeting.Self, cfg.Layout, cfg.Spares, cfg.Silence, cfg.Limit), guests: map[int]*connection{}, ended: make(chan struct{}),
	}
	s.timer = time.AfterFunc(time.Hour, func() { s.step(s.machine.Tick) })
	go door.Serve(s.greet, cfg.Refused)
	return s, nil
}

// Address is where the others find it.
func (s *Service) Address() string { return s.door.Address() }

// follow has this spare's own Client go where guests say that others are.
func (s *Service) follow(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = c
	c.urge(s.urged)
}

// turn says which turn this spare takes the present one to be.
func (s *Service) turn(turn uint64) {
	s.step(func(now proto.Time, out *[]Action) { s.machine.Turn(now, turn, out) })
}

// Outlast has a spare leader whose own place in the job is at its end stay until the other spares know that all are, for
// so long at most.
func (s *Service) Outlast(limit time.Duration) {
	s.mu.Lock()
	reigns := s.machine.reigns
	s.mu.Unlock()
	if reigns {
		select {
		case <-s.ended:
		case <-time.After(limit):
		}
	}
}

// Close sends everybody away.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
	s.door.Close()
	for _, c := range s.guests {
		c.conn.Close()
	}
}

// greet listens to who has come, until that goes.
func (s *Service) greet(conn net.Conn, from proto.Proc) {
	c := &connection{conn: conn, unsent: make(chan control.Message, maxUnsent), sent: make(chan struct{})}
	lines := control.NewConn(conn)
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		conn.Close()
		return
	}
	s.last++
	id := s.last
	s.guests[id] = c
	s.machine.Opened(id, from)
	s.mu.Unlock()
	go func() {
		defer close(c.sent)
		for m := range c.unsent {
			if lines.Send(m) != nil {
				conn.SetReadDeadline(time.Now().Add(parting)) // it may have gone, but what it said before counts
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

// release ends a connection when what was to be sent is. The lock is held.
func (s *Service) release(id int) {
	if c := s.guests[id]; c != nil {
		delete(s.guests, id)
		close(c.unsent)
		c.conn.SetWriteDeadline(time.Now().Add(parting))
	}
}

// step has the machine do something, and carries out what it wants.
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
			if c := s.guests[a.To]; c != nil {
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
		case Urge:
			if s.urged = max(s.urged, a.Turn); s.client != nil {
				s.client.urge(a.Turn)
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
	var guests []*connection
	for id, c := range s.guests {
		guests = append(guests, c)
		s.release(id)
	}
	s.mu.Unlock()
	late := time.After(parting)
	for _, c := range guests {
		select {
		case <-c.sent:
		case <-late:
		}
	}
	s.door.Close()
	close(s.ended)
	s.cfg.Ended(code, text)
}
