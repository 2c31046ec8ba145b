package group

import "sync"

// courier carries views from the loop to the program: in order, without losing
// one, and without the loop ever waiting for the program.
type courier struct {
	out  chan View
	quit chan struct{} // closed by discard

	mu     sync.Mutex
	queue  []View
	wake   chan struct{} // of capacity 1
	closed bool
	once   sync.Once
	gone   chan struct{} // closed when the goroutine has ended
}

func newCourier() *courier {
	c := &courier{out: make(chan View), quit: make(chan struct{}), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	go c.run()
	return c
}

// give queues a view.
func (c *courier) give(v View) {
	c.mu.Lock()
	c.queue = append(c.queue, v)
	c.mu.Unlock()
	c.nudge()
}

// close ends the channel after the views that are queued.
func (c *courier) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.nudge()
}

// discard ends the channel at once.
func (c *courier) discard() {
	c.once.Do(func() { close(c.quit) })
	<-c.gone
}

func (c *courier) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *courier) run() {
	defer close(c.gone)
	defer close(c.out)
	for {
		c.mu.Lock()
		queue, closed := c.queue, c.closed
		c.queue = nil
		c.mu.Unlock()
		for _, v := range queue {
			select {
			case c.out <- v:
			case <-c.quit:
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
		case <-c.wake:
		case <-c.quit:
			return
		}
	}
}
