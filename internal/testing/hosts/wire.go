package hosts

import (
	"math/rand/v2"
	"sync"
	"time"
)

// wire is one direction of a link.
type wire struct {
	put  func(packet []byte) // to the receiver
	back func(packet []byte) // to the sender

	mu            sync.Mutex
	link          Link
	random        *rand.Rand
	queue         []flight // in the order of sending, which is that of arrival
	timer         *time.Timer
	closed        bool
	carried, lost int
}

// flight is a packet on its way.
type flight struct {
	packet []byte
	due    time.Time
}

// set changes the link. Packets on their way over a link that is cut, or rejects, are lost.
func (w *wire) set(l Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.link = l
	if l.Cut || l.Reject {
		w.lost += len(w.queue)
		w.queue = nil
	}
}

// send takes a packet, which may be reused when it returns.
func (w *wire) send(packet []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Draw first, so that the fate of packet i doesn't depend on when the link was cut.
	unlucky := w.random.Float64() < w.link.Loss
	switch {
	case w.link.Reject && !w.closed:
		w.lost++
		if b := rejection(packet); b != nil {
			w.back(b)
		}
	case w.link.Cut || unlucky || len(w.queue) >= maxQueued || w.closed:
		w.lost++
	case w.link.Delay == 0 && len(w.queue) == 0:
		w.carried++
		w.put(packet)
	default:
		due := time.Now().Add(w.link.Delay)
		if n := len(w.queue); n > 0 && due.Before(w.queue[n-1].due) {
			due = w.queue[n-1].due // the link got faster: no packet overtakes another
		}
		w.queue = append(w.queue, flight{append([]byte(nil), packet...), due})
		if len(w.queue) == 1 {
			w.timer = time.AfterFunc(time.Until(due), w.arrive)
		}
	}
}

// arrive hands over the packets that are due.
func (w *wire) arrive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for len(w.queue) > 0 && !w.closed {
		if f := w.queue[0]; f.due.After(now) {
			w.timer = time.AfterFunc(f.due.Sub(now), w.arrive)
			return
		}
		w.carried++
		w.put(w.queue[0].packet)
		w.queue = w.queue[1:]
	}
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
