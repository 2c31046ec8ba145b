package launcher

import "sync"

// queue hands values to a function, in order, on a goroutine of its own. It has no bound, so that
// put never waits. It is for values that are rare.
type queue[T any] struct {
	mu      sync.Mutex
	changed sync.Cond
	values  []T
	closed  bool
	drained chan struct{}
}

func newQueue[T any](take func(T)) *queue[T] {
	q := &queue[T]{drained: make(chan struct{})}
	q.changed.L = &q.mu
	go q.run(take)
	return q
}

func (q *queue[T]) put(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.values = append(q.values, v)
	q.changed.Signal()
}

// close ends the queue when it is empty. Values that are put later may be lost.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Signal()
}

func (q *queue[T]) run(take func(T)) {
	defer close(q.drained)
	for {
		q.mu.Lock()
		for len(q.values) == 0 && !q.closed {
			q.changed.Wait()
		}
		values := q.values
		q.values = nil
		q.mu.Unlock()
		if len(values) == 0 {
			return
		}
		for _, v := range values {
			take(v)
		}
	}
}
