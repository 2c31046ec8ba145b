package handshake

import (
	"bytes"
	"io"
	"sync"
)

// wire is a connection in memory. If both ends wait for the other, both read its end: a
// conversation never hangs, and no test needs a clock.
type wire struct {
	mu      sync.Mutex
	changed sync.Cond
	sent    [2][]byte       // what each end may still read
	waiting [2]bool         // each end waits for more
	closed  [2]bool         // each end has hung up
	said    [2]bytes.Buffer // all that each end has written
	change  [2]func(at int, b []byte) []byte
	count   [2]int // bytes that each end has written
}

func newWire() *wire {
	w := &wire{}
	w.changed.L = &w.mu
	return w
}

// end is one of the two ends of a wire: 0 is the dialler's.
type end struct {
	*wire
	side int
}

func (e end) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said[e.side].Write(b)
	passed := bytes.Clone(b)
	if change := e.change[e.side]; change != nil {
		passed = change(e.count[e.side], passed)
	}
	e.count[e.side] += len(b)
	e.sent[1-e.side] = append(e.sent[1-e.side], passed...)
	e.changed.Broadcast()
	return len(b), nil
}

func (e end) Read(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[e.side] = true
	defer func() { e.waiting[e.side] = false }()
	e.changed.Broadcast()
	for len(e.sent[e.side]) == 0 {
		if e.closed[1-e.side] || e.waiting[1-e.side] && len(e.sent[1-e.side]) == 0 {
			e.closed[e.side] = true
			return 0, io.EOF
		}
		e.changed.Wait()
	}
	n := copy(b, e.sent[e.side])
	e.sent[e.side] = e.sent[e.side][n:]
	return n, nil
}

func (e end) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed[e.side] = true
	e.changed.Broadcast()
}

// flip changes one bit of the byte at a position.
func flip(position int) func(at int, b []byte) []byte {
	return func(at int, b []byte) []byte {
		if i := position - at; i >= 0 && i < len(b) {
			b[i] ^= 4
		}
		return b
	}
}

// cut lets only so many bytes pass.
func cut(position int) func(at int, b []byte) []byte {
	return func(at int, b []byte) []byte { return b[:min(max(position-at, 0), len(b))] }
}
