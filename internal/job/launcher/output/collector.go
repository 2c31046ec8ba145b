package output

import (
	"io"
	"sync"
	"time"
)

// Config is how a Collector merges.
type Config struct {
	Replicas int
	// Keep bounds the bytes kept per replica.
	Keep int
	// Delay is how long an unfinished line is kept back.
	Delay time.Duration
	// Print takes what is to be shown, from one goroutine at a time.
	Print func([]byte)
	// Diverged is told once if the replicas write different bytes: in which
	// line, and whose is shown.
	Diverged func(line, leader int)
}

// Collector drives a Merger from the pipes of the replicas of one rank.
type Collector struct {
	cfg Config

	mu      sync.Mutex
	changed sync.Cond // something was fed or closed
	merger  *Merger
	flush   *time.Timer
	armed   bool   // flush runs: an unfinished line is kept back
	ended   []bool // whose pipe has ended, if not how
	hurried []bool // of whom everything is taken at once
	told    bool   // of the divergence
	out     []byte // scratch
}

// NewCollector makes a Collector. One replica alone is shown without waiting
// for the end of its lines.
func NewCollector(cfg Config) *Collector {
	c := &Collector{
		cfg:     cfg,
		merger:  NewMerger(cfg.Replicas, cfg.Keep, cfg.Replicas == 1),
		ended:   make([]bool, cfg.Replicas),
		hurried: make([]bool, cfg.Replicas),
	}
	c.changed.L = &c.mu
	c.flush = time.AfterFunc(time.Hour, c.showUnfinished)
	c.flush.Stop()
	return c
}

// Copy passes on what a replica writes, until its end, and then how it ended:
// inOrder waits until it is known whether the replica left in order or died.
// Each replica's Copy runs in a goroutine of its own.
func (c *Collector) Copy(replica int, from io.Reader, inOrder func() bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		c.feed(replica, buf[:n])
		if err != nil {
			break // a pipe ends, and fails in no other way
		}
	}
	c.mu.Lock()
	c.ended[replica] = true
	c.mu.Unlock()
	ok := inOrder()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show(c.merger.Closed(replica, ok, c.out[:0]))
}

// Revive says that another process takes a dead replica's place, whose output goes on
// where that of another replica is now, and is passed on by a Copy of its own.
func (c *Collector) Revive(replica, like int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merger.Revive(replica, like)
	c.ended[replica] = false
}

// Hurry has all taken that a replica has written, or not any longer: somebody waits for
// it, and the leader, for which it would wait, may be waiting for that one.
func (c *Collector) Hurry(replica int, hurried bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried[replica] = hurried
	c.changed.Broadcast()
}

// feed hands over all of b, waiting for the leader if need be.
func (c *Collector) feed(replica int, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(b) > 0 {
		if c.hurried[replica] {
			c.show(c.merger.FeedAll(replica, b, c.out[:0]))
			return
		}
		n, out := c.merger.Feed(replica, b, c.out[:0])
		b = b[n:]
		if n > 0 || len(out) > 0 {
			c.show(out)
		} else {
			c.changed.Wait()
		}
	}
}

// showUnfinished shows an unfinished line. Of a leader that has ended nobody
// knows yet whether its line stays unfinished.
func (c *Collector) showUnfinished() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	if !c.ended[c.merger.Leader()] {
		c.show(c.merger.Flush(c.out[:0]))
	}
}

// show prints what the Merger emitted and sees to the consequences. The lock is
// held.
func (c *Collector) show(out []byte) {
	c.out = out
	if len(out) > 0 {
		c.cfg.Print(out)
	}
	if line, diverged := c.merger.Diverged(); diverged && !c.told {
		c.told = true
		c.cfg.Diverged(line, c.merger.Leader())
	}
	if pending := c.merger.Pending(); pending != c.armed {
		c.armed = pending
		if pending {
			c.flush.Reset(c.cfg.Delay)
		} else {
			c.flush.Stop()
		}
	}
	c.changed.Broadcast()
}
