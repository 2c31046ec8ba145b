package remote

import (
	"errors"
	"io"
	"log/slog"

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
	from := s.link.In(shown)
	go func() {
		if err := s.page.Follow(from); err != nil {
			slog.Debug("the job isn't shown any more", "agent", s.number, "err", err)
		}
		from.Close()
	}()
}
