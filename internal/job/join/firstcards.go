package join

import (
	"sync"

	"banyan/internal/job/pmi"
	"banyan/internal/proto"
)

// firstCards are the business cards that a process gets as it publishes its own: those of its
// neighbours on the ring of heartbeats, and of the process that coordinates the others. Each is
// good for once: who asks again may look for a replacement's. One of a process that is replaced is
// forgotten. The zero value has none.
type firstCards struct {
	mu    sync.Mutex
	procs [3]proto.Proc
	texts [3]string // "": unknown, or taken
}

// ask has a batch ask for the cards, but not for those of processes that are dead: what comes under
// their numbers has other cards. When that was done, keep keeps them.
func (c *firstCards) ask(self proto.Proc, procs int, dead func(p proto.Proc) bool, batch *pmi.Batch) (keep func()) {
	n := proto.Proc(procs)
	wanted, texts := [3]proto.Proc{0, (self + n - 1) % n, (self + 1) % n}, new([3]string)
	for i, p := range wanted {
		if p != self && !dead(p) && (i == 0 || p != wanted[0]) && (i < 2 || p != wanted[1]) {
			batch.Get(cardOf(p), &texts[i])
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.procs, c.texts = wanted, *texts
	}
}

// forget forgets the card of a process that is replaced.
func (c *firstCards) forget(p proto.Proc) { c.take(p) }

// take returns a card that hasn't been taken, or "".
func (c *firstCards) take(p proto.Proc) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.procs {
		if text := c.texts[i]; q == p && text != "" {
			c.texts[i] = ""
			return text
		}
	}
	return ""
}
