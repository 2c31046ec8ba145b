package console

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// ErrEnded says that a job has ended, and takes no more output.
var ErrEnded = errors.New("the job has ended")

const (
	// ownerPatience is how long a new console waits for the last one to go: its death is known at
	// once, but not before the new console comes.
	ownerPatience = 500 * time.Millisecond
	// watcherPatience is how long consoles that watch may take to show the end.
	watcherPatience = 2 * time.Second
)

// Hub is a launcher's side of its consoles: it takes the job's output and keeps what no console
// has acknowledged, gives the job its input, and hands on signals. Consoles come and go. Its
// methods may be called from several goroutines.
type Hub struct {
	signals chan os.Signal

	mu       sync.Mutex
	changed  sync.Cond
	streams  [streams]record
	said     [streams]int64 // how much of them is the launcher's own
	name     string         // the launcher's: see Welcomed
	label    bool
	onShown  func(rank int, stderr bool, n int64) // may be nil
	input    input
	attached map[*attached]struct{}
	owner    *attached // nil: there is none
	started  bool
	messages int64 // how much stderr there was then
	ended    bool  // no more output comes
	code     int   // valid then
	shown    bool  // the owner has had it all, and the exit code
	closed   bool  // no console can attach any more
}

// NewHub makes a hub without consoles.
func NewHub() *Hub {
	h := &Hub{signals: make(chan os.Signal, 4), name: rand.Text(), attached: make(map[*attached]struct{})}
	h.changed.L = &h.mu
	return h
}

// Stdout takes what the launcher itself writes to stdout. A Write waits if too much isn't
// acknowledged; it fails with ErrEnded after End.
func (h *Hub) Stdout() io.Writer { return hubOutput{h, Stdout} }

// Stderr takes what it writes to stderr, likewise.
func (h *Hub) Stderr() io.Writer { return hubOutput{h, Stderr} }

// Stdin is the job's input. It ends where a console says so, or with the job.
func (h *Hub) Stdin() io.Reader { return hubInput{h} }

// Signals are those that the owner was sent.
func (h *Hub) Signals() <-chan os.Signal { return h.signals }

// AwaitOwner waits until a console is attached that is the owner, or gone is closed.
func (h *Hub) AwaitOwner(gone <-chan struct{}) {
	over := make(chan struct{})
	defer close(over)
	stop := false
	go func() {
		select {
		case <-gone:
			h.mu.Lock()
			defer h.mu.Unlock()
			stop = true
			h.changed.Broadcast()
		case <-over:
		}
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.owner == nil && !stop {
		h.changed.Wait()
	}
}

// Started says that all processes have started.
func (h *Hub) Started() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started, h.messages = true, h.streams[Stderr].last
	h.changed.Broadcast()
}

// End says that the job has ended, and waits until the owner has shown that. It returns whether
// there was one: otherwise the end must be kept. An owner that is silent for Silence has gone.
func (h *Hub) End(code int) (shown bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.code = true, code
	h.changed.Broadcast()
	for h.owner != nil && !h.shown {
		h.changed.Wait()
	}
	h.closed = true
	late := time.AfterFunc(watcherPatience, h.changed.Broadcast)
	defer late.Stop()
	for until := time.Now().Add(watcherPatience); len(h.attached) > 0 && time.Now().Before(until); {
		h.changed.Wait()
	}
	return h.shown
}

// consoles counts the consoles.
func (h *Hub) consoles() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.attached)
}

// hubOutput takes one output stream.
type hubOutput struct {
	h      *Hub
	stream Stream
}

// Write implements io.Writer.
func (w hubOutput) Write(b []byte) (n int, err error) {
	return w.h.put(w.stream, Launcher, -1, b)
}

// put takes what a source has written, from byte at of its stream on; -1: what follows the
// launcher's last words.
func (h *Hub) put(stream Stream, source int, at int64, b []byte) (n int, err error) {
	r := &h.streams[stream]
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(b) > 0 {
		if h.ended {
			return n, ErrEnded
		}
		k := min(len(b), r.room(h.limit()))
		if k == 0 {
			h.changed.Wait()
			continue
		}
		if source == Launcher {
			at = h.said[stream]
			h.said[stream] += int64(k)
		}
		r.append(source, at, b[:k])
		n, at, b = n+k, at+int64(k), b[k:]
		h.changed.Broadcast()
	}
	return n, nil
}

// limit bounds what isn't acknowledged. The lock is held.
func (h *Hub) limit() int64 {
	if h.owner != nil {
		return attendedLimit
	}
	return unattendedLimit
}
