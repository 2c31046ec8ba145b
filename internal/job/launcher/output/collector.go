package output

import (
	"io"
	"sync"
	"time"
)

// Config says how a Collector merges.
type Config struct {
	Replicas int
	// Keep bounds the bytes kept per replica.
	Keep int
	// Delay is how long an unfinished line is kept back.
	Delay time.Duration
	// Together says that nothing is shown that a replica which lives has yet to write.
	Together bool
	// Print takes what is to be shown, from one goroutine at a time.
	Print func([]byte)
	// Diverged is called once if the replicas write different bytes. leader is the replica whose
	// bytes are shown.
	Diverged func(first *Difference, leader int)
}

// Collector drives a Merger from the pipes of the replicas of one rank.
type Collector struct {
	cfg Config

	mu      sync.Mutex
	changed sync.Cond // something was fed or closed
	merger  *Merger
	flush   *time.Timer
	armed   bool    // the timer flush runs: an unfinished line is kept back
	ended   []bool  // by replica: its pipe has ended
	hurried []bool  // by replica: all that it writes is taken at once
	told    bool    // Diverged was called
	fed     []int64 // by replica: bytes that were fed
	out     []byte  // scratch
}

// NewCollector makes a Collector. The output of a replica that is alone is shown without waiting
// for the end of its lines.
func NewCollector(cfg Config) *Collector {
	c := &Collector{
		cfg:     cfg,
		merger:  NewMerger(cfg.Replicas, cfg.Keep, cfg.Replicas == 1),
		ended:   make([]bool, cfg.Replicas),
		hurried: make([]bool, cfg.Replicas),
		fed:     make([]int64, cfg.Replicas),
	}
	c.changed.L = &c.mu
	if cfg.Together {
		c.merger.EmitTogether()
	}
	c.flush = time.AfterFunc(time.Hour, c.showUnfinished)
	c.flush.Stop()
	return c
}

// Copy passes on what a replica writes, until its end, and then how it ended: inOrder waits until
// it is known whether the replica left in order or died. Each replica's Copy runs in a goroutine of
// its own.
func (c *Collector) Copy(replica int, from io.Reader, inOrder func() bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		c.feed(replica, buf[:n])
		if err != nil {
			break // reading a pipe fails only at its end
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

// Follow says that a replacement fills the slot of a dead replica. Its output goes on where the
// donor's output is now. A Copy of its own passes it on.
func (c *Collector) Follow(replica, donor int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merger.Follow(replica, donor)
	c.fed[replica] = c.fed[donor]
	c.ended[replica] = false
}

// Fed is how much a replica has written so far, with what its predecessor and its donor had.
func (c *Collector) Fed(replica int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fed[replica]
}

// Begin says that a replica's output goes on behind so many bytes, which were shown.
func (c *Collector) Begin(replica int, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fed[replica] = at
}

// Hurry says whether all that a replica has written is taken at once. A replacement waits for the
// end of that output. The replica would otherwise wait for the leader, which may itself wait for
// the replacement.
func (c *Collector) Hurry(replica int, hurried bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried[replica] = hurried
	c.changed.Broadcast()
}

// feed hands over all of b. It waits for the leader if the replica is too far ahead.
func (c *Collector) feed(replica int, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fed[replica] += int64(len(b))
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

// showUnfinished shows an unfinished line. If the leader's pipe has ended, it isn't known yet
// whether the line stays unfinished.
func (c *Collector) showUnfinished() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	if !c.ended[c.merger.Leader()] {
		c.show(c.merger.Flush(c.out[:0]))
	}
}

// show prints what the Merger emitted, tells of a divergence, and sets the timer for an unfinished
// line. The lock is held.
func (c *Collector) show(out []byte) {
	c.out = out
	if len(out) > 0 {
		c.cfg.Print(out)
	}
	if first := c.merger.Difference(); first != nil && !c.told {
		c.told = true
		c.cfg.Diverged(first, c.merger.Leader())
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
