// Package mailbox hands values to a function, in order, without the giver ever waiting.
//
// It is for values that are rare, on their way to what may be stuck: a terminal, a process that
// doesn't read. A mailbox has no bound. While it is empty it has no goroutine.
package mailbox

import "sync"

// Mailbox hands values to a function. Its methods may be called from several goroutines.
type Mailbox[T any] struct {
	take func(T)

	mu      sync.Mutex
	values  []T
	busy    bool // a goroutine hands values over
	closed  bool
	drained chan struct{}
}

// New makes a mailbox. It calls take for one value after the other.
func New[T any](take func(T)) *Mailbox[T] {
	return &Mailbox[T]{take: take, drained: make(chan struct{})}
}

// Put puts a value into the mailbox. It has no effect after Close.
func (m *Mailbox[T]) Put(v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.values = append(m.values, v)
	if !m.busy {
		m.busy = true
		go m.run()
	}
}

// Close ends the mailbox, once, when it is empty.
func (m *Mailbox[T]) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if !m.busy {
		close(m.drained)
	}
}

// Drained is closed when the mailbox was closed and all its values were taken.
func (m *Mailbox[T]) Drained() <-chan struct{} { return m.drained }

// run hands values over until the mailbox is empty.
func (m *Mailbox[T]) run() {
	for {
		m.mu.Lock()
		values := m.values
		m.values = nil
		if len(values) == 0 {
			m.busy = false
			if m.closed {
				close(m.drained)
			}
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		for _, v := range values {
			m.take(v)
		}
	}
}
