package remote

import (
	"context"
	"time"

	"banyan/internal/counters"
	"banyan/internal/job/agent"
	"banyan/internal/job/agent/wire"
)

// countPeriod is how often an agent reads what its processes have counted.
const countPeriod = time.Second

// count tells the launcher what the processes have counted. It has no effect for processes that
// don't count.
func (s *server) count(ctx context.Context) {
	ticker := time.NewTicker(countPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, p := range s.running() {
			c, ok := p.Process.(agent.Counting)
			if !ok {
				continue
			}
			if r, ok := c.Counters(); ok && r.Stamp != p.counted {
				p.counted = r.Stamp
				s.say(wire.Message{Type: wire.Counted, Proc: p.key.proc, Incarnation: p.key.incarnation, Counters: &r})
			}
		}
	}
}

// Counters implements agent.Counting.
func (p *process) Counters() (r counters.Record, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counted, p.counts
}
