package output

import (
	"sync"
	"time"
)

// Turns says when each of several ranks may write: never while another one's line is unfinished,
// unless that takes too long. Its methods may be called from several goroutines.
type Turns struct {
	hold time.Duration

	mu      sync.Mutex
	changed sync.Cond
	// unfinished is the source that wrote the last line, if that hasn't ended.
	unfinished int
	until      time.Time // the others wait until then for the line's end
}

// Sources that aren't ranks.
const (
	// Launcher is the source of the launcher's messages.
	Launcher = -1
	nobody   = -2 // there is no unfinished line
)

// NewTurns makes Turns in which an unfinished line keeps the other ranks waiting for at most hold.
func NewTurns(hold time.Duration) *Turns {
	t := &Turns{hold: hold, unfinished: nobody}
	t.changed.L = &t.mu
	return t
}

// Take waits for the turn of a rank that has b to write, and calls write. Nobody else's turn comes
// before write returns.
func (t *Turns) Take(rank int, b []byte, write func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.unfinished != rank && t.unfinished != nobody {
		wait := time.Until(t.until)
		if wait <= 0 {
			break
		}
		timer := time.AfterFunc(wait, t.changed.Broadcast)
		t.changed.Wait()
		timer.Stop()
	}
	t.take(rank, b, write)
}

// TakeNow is Take for the launcher's messages, which don't wait for the ends of lines.
func (t *Turns) TakeNow(b []byte, write func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(Launcher, b, write)
}

func (t *Turns) take(source int, b []byte, write func()) {
	if len(b) == 0 {
		return
	}
	if b[len(b)-1] == '\n' {
		t.unfinished = nobody
		t.changed.Broadcast()
	} else {
		t.unfinished = source
		t.until = time.Now().Add(t.hold)
	}
	write()
}

// Ended says that a rank writes nothing more: the others don't wait for the end of its line any
// more.
func (t *Turns) Ended(rank int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unfinished == rank {
		t.until = time.Time{}
		t.changed.Broadcast()
	}
}
