package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"

	"banyan/internal/varint"
)

// maxConnections bounds the connections that a server answers at the same time.
const maxConnections = 128

// Server answers what comes to a job's socket. Its methods may be called from several goroutines.
type Server struct {
	hub      *Hub // nil: no console can attach
	listener *Listener

	mu       sync.Mutex
	info     Info
	handlers map[string]handler
	conns    map[net.Conn]struct{}
	closed   bool
	running  sync.WaitGroup // connections
}

// handler answers a request.
type handler func(ctx context.Context, question json.RawMessage, tell func(string)) (any, error)

// NewServer makes the server of a job. hub is nil if the launcher's own process shows the job.
func NewServer(info Info, hub *Hub) *Server {
	s := &Server{hub: hub, info: info, handlers: make(map[string]handler), conns: make(map[net.Conn]struct{})}
	s.info.Own = hub == nil
	if s.info.State == "" {
		s.info.State = Starting
	}
	Handle(s, "status", func(context.Context, struct{}, func(string)) (Info, error) { return s.Info(), nil })
	return s
}

// Handle registers what answers a request: see the package documentation.
func Handle[Question, Answer any](s *Server, name string, answer func(ctx context.Context, q Question, tell func(string)) (Answer, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[name] = func(ctx context.Context, body json.RawMessage, tell func(string)) (any, error) {
		var q Question
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, fmt.Errorf("the question can't be read: %w", err)
		}
		return answer(ctx, q, tell)
	}
}

// Info describes the job as it is now.
func (s *Server) Info() Info {
	s.mu.Lock()
	info := s.info
	s.mu.Unlock()
	if s.hub != nil {
		info.Consoles = s.hub.consoles()
	}
	return info
}

// Update changes the description. A nil server has none.
func (s *Server) Update(change func(*Info)) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		change(&s.info)
	}
}

// Close ends all connections, and waits for what answers on them. Nobody can connect any more. A
// nil server has nothing to close.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	listener := s.listener
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	if listener != nil {
		listener.Close()
	}
	s.running.Wait()
}

// Serve answers what comes on a connection, until that ends, and closes it.
func (s *Server) Serve(conn net.Conn) {
	if !s.enter(conn) {
		conn.Close()
		return
	}
	defer s.leave(conn)
	l := newLink(conn)
	if l.greet() != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stop = make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { l.beat(stop) })
	defer beating.Wait()
	defer conn.Close()
	defer close(stop)
	var answering sync.WaitGroup
	defer answering.Wait()
	defer cancel()
	busy := false
	var have [streams]positions
	for s := range have {
		have[s] = make(positions)
	}
	for {
		f, err := l.receive()
		if err != nil {
			return
		}
		switch f.Kind {
		case Beat:
		case Request:
			if busy {
				l.send(&Frame{Kind: Refusal, Text: "a connection is for one request"}, Silence)
				return
			}
			busy = true
			name, question := f.Text, append([]byte(nil), f.Data...)
			answering.Go(func() { s.answer(ctx, l, name, question) })
		case Shown:
			r := varint.Read(f.Data)
			if have[f.Stream].read(&r) != nil || !r.Done() {
				return
			}
		case Attach:
			if s.hub == nil {
				l.send(&Frame{Kind: Refusal, Text: s.ownOnly()}, Silence)
				return
			}
			s.hub.attach(l, f.Data, have, s.Info())
			return
		default:
			return
		}
	}
}

// ownOnly says why no console can attach.
func (s *Server) ownOnly() string {
	return fmt.Sprintf("the job is shown by the command that started it (process %d), and by no other: start it with --detach or --on-console-loss=continue", s.Info().PID)
}

// enter notes a connection.
func (s *Server) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxConnections {
		return false
	}
	s.conns[conn] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) leave(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
	s.running.Done()
}

// answer answers a request.
func (s *Server) answer(ctx context.Context, l *link, name string, question json.RawMessage) {
	s.mu.Lock()
	h := s.handlers[name]
	s.mu.Unlock()
	f := Frame{Kind: Response}
	if h == nil {
		f.Text = fmt.Sprintf("the job doesn't know the request %q", name)
	} else if answer, err := h(ctx, question, func(text string) { l.send(&Frame{Kind: Progress, Text: text}, Silence) }); err != nil {
		f.Text = err.Error()
	} else if f.Data, err = json.Marshal(answer); err != nil {
		f.Text = err.Error()
	}
	if f.Text == "" && f.Data == nil {
		f.Text = "the request failed"
	}
	l.send(&f, Silence)
}
