package watch

import (
	"io"
	"sync"
	"time"

	"banyan/cmd/banyan/internal/job"
	"banyan/internal/job/status/metrics"
	"banyan/internal/job/status/serve"
)

// lookEvery is how often a page looks whether its launcher is still heard.
const lookEvery = time.Second

// page shows a job on a host that isn't its launcher's.
type page struct {
	*serve.Hub
	ended chan struct{}

	mu       sync.Mutex
	begun    bool
	closed   bool
	server   *serve.Server // nil: none
	followed chan struct{} // closed when the last launcher says nothing more; nil: none has
}

// NewPage makes what shows a job on an agent's host, once the launcher says so.
func NewPage() job.Page { return &page{Hub: serve.NewHub(""), ended: make(chan struct{})} }

// Show implements remote.Page.
func (p *page) Show(words []byte, here string) (place []byte, err error) {
	settings, err := serve.DecodeSettings(words)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, io.ErrClosedPipe
	}
	if settings.Control {
		p.AllowControl()
	}
	if !p.begun {
		if p.server, err = settings.Listen(p.Hub, here, metrics.Handler(p.Totals)); err != nil {
			return nil, err
		}
		p.begun = true
		go p.look()
	}
	if p.server == nil {
		return nil, nil
	}
	return []byte(p.server.Address()), nil
}

// Asks implements remote.Page.
func (p *page) Asks(ask func(request []byte) ([]byte, error)) { p.Operator(serve.Operate(ask)) }

// Follow implements remote.Page.
func (p *page) Follow(from io.Reader) error {
	done := make(chan struct{})
	defer close(done)
	p.mu.Lock()
	p.followed = done
	p.mu.Unlock()
	return p.Hub.Follow(from)
}

// look marks what is shown as old, when the launcher isn't heard.
func (p *page) look() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			p.Look(now)
		case <-p.ended:
			return
		}
	}
}

// Close implements job.Page. It waits a little for the launcher's last words, and for browsers to
// read them.
func (p *page) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	server, followed := p.server, p.followed
	p.mu.Unlock()
	close(p.ended)
	if followed != nil {
		select {
		case <-followed:
		case <-time.After(feedLimit / 2):
		}
	}
	p.Hub.Close()
	if server != nil {
		server.Close()
	}
}
