package remote

import (
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/wire"
)

// Page shows the job to people on this host (package status/serve).
type Page interface {
	// Show begins to show it, as a launcher's words say, and returns where: nil if nowhere. here is
	// the IP address by which this host reaches the launcher. What is shown already, by the words
	// of a launcher before, goes on.
	Show(words []byte, here string) (place []byte, err error)
	// Follow takes how the job is, as the launcher says, until that ends.
	Follow(from io.Reader) error
	// Asks gives it what asks the launcher for something. It waits for the answer.
	Asks(ask func(request []byte) (answer []byte, err error))
}

var _ agent.Showing = (*Remote)(nil)

// shown is the stream of how the job is.
var shown = wire.Stream{Channel: wire.Shown}

// Show implements agent.Showing.
func (r *Remote) Show(words []byte) (place []byte, err error) {
	m, err := r.await(wire.Message{Type: wire.Show, Words: words})
	switch {
	case err != nil:
		return nil, err
	case m.Text != "":
		return nil, errors.New(m.Text)
	}
	return m.Words, nil
}

// Shown implements agent.Showing.
func (r *Remote) Shown() io.WriteCloser { return r.link.Out(shown, true) }

// show has the page show the job.
func (s *server) show(m wire.Message) {
	answer := wire.Message{Type: wire.Showing, Ask: m.Ask}
	defer func() { s.say(answer) }()
	if s.page == nil {
		answer.Text = "this agent shows nothing"
		return
	}
	here := ""
	if a := s.here.Load(); a != nil {
		here = a.IP.String()
	}
	var err error
	if answer.Words, err = s.page.Show(m.Words, here); err != nil {
		answer.Text = err.Error()
		return
	}
	s.page.Asks(func(request []byte) ([]byte, error) { return s.requests.ask(s, request) })
	from := s.link.In(shown)
	go func() {
		if err := s.page.Follow(from); err != nil {
			slog.Debug("the job isn't shown any more", "agent", s.number, "err", err)
		}
		from.Close()
	}()
}

// requestLimit bounds the wait for what the launcher says to a request.
const requestLimit = 10 * time.Second

// requests are those that the launcher hasn't answered.
type requests struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]chan []byte
}

// ask asks the launcher, and waits for its answer.
func (q *requests) ask(s *server, request []byte) (answer []byte, err error) {
	c := make(chan []byte, 1)
	q.mu.Lock()
	if q.open == nil {
		q.open = make(map[uint64]chan []byte)
	}
	q.last++
	number := q.last
	q.open[number] = c
	q.mu.Unlock()
	s.say(wire.Message{Type: wire.Request, Ask: number, Words: request})
	select {
	case answer = <-c:
		return answer, nil
	case <-time.After(requestLimit):
		q.mu.Lock()
		delete(q.open, number)
		q.mu.Unlock()
		return nil, errors.New("the launcher doesn't answer: look whether it has been done, and try again")
	}
}

// answered takes an answer.
func (q *requests) answered(m wire.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.open[m.Ask]; c != nil {
		c <- m.Words
		delete(q.open, m.Ask)
	}
}

// Requests implements agent.Showing.
func (r *Remote) Requests(answer func(request []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// requested has a request answered, on a goroutine of its own.
func (r *Remote) requested(m wire.Message) {
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		go func() { r.say(wire.Message{Type: wire.Answered, Ask: m.Ask, Words: answer(m.Words)}) }()
	}
}
