package group

import "sync"

// viewQueue carries views from the member's loop to the program: in order and without losing one.
// The loop never waits for the program.
type viewQueue struct {
	out  chan View
	quit chan struct{} // closed by discard

	mu     sync.Mutex
	queue  []View
	wake   chan struct{} // of capacity 1
	closed bool
	once   sync.Once
	gone   chan struct{} // closed when the goroutine has ended
}

func newViewQueue() *viewQueue {
	q := &viewQueue{out: make(chan View), quit: make(chan struct{}), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	go q.run()
	return q
}

// give queues a view.
func (q *viewQueue) give(v View) {
	q.mu.Lock()
	q.queue = append(q.queue, v)
	q.mu.Unlock()
	q.nudge()
}

// close ends the channel after the views that are queued.
func (q *viewQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.nudge()
}

// discard ends the channel at once.
func (q *viewQueue) discard() {
	q.once.Do(func() { close(q.quit) })
	<-q.gone
}

func (q *viewQueue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *viewQueue) run() {
	defer close(q.gone)
	defer close(q.out)
	for {
		q.mu.Lock()
		queue, closed := q.queue, q.closed
		q.queue = nil
		q.mu.Unlock()
		for _, v := range queue {
			select {
			case q.out <- v:
			case <-q.quit:
				return
			}
		}
		if len(queue) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-q.wake:
		case <-q.quit:
			return
		}
	}
}
