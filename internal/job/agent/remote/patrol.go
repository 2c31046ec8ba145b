package remote

import (
	"context"
	"time"

	"banyan/internal/job/agent/wire"
)

const (
	// patrolPeriod is how often the agent looks at the state of its processes.
	patrolPeriod = 50 * time.Millisecond
	// patrolShare bounds the share of a core that this takes: one part in so many.
	patrolShare = 50
)

// news is what the launcher was told of a process.
type news struct{ stopped, ended, traced bool }

// patrol tells the launcher when the state of a process has changed.
func (s *server) patrol(ctx context.Context) {
	for pause := patrolPeriod; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		start := time.Now()
		for _, p := range s.running() {
			s.look(p)
		}
		pause = max(patrolPeriod, patrolShare*time.Since(start))
	}
}

// running are the processes whose end wasn't told.
func (s *server) running() (list []*served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.procs {
		if !p.ended.Load() {
			list = append(list, p)
		}
	}
	return list
}

// look tells what is new of a process.
func (s *server) look(p *served) {
	state := p.State()
	now := news{stopped: state.Stopped, ended: state.Ended}
	if speaker := p.speaker.Load(); speaker >= 0 {
		now.traced = p.Traced(int(speaker))
	}
	if p.retell.Swap(false) {
		p.told = news{}
	}
	if now == p.told {
		return
	}
	p.told = now
	s.say(wire.Message{
		Type: wire.News, Proc: p.key.proc, Incarnation: p.key.incarnation, Stopped: now.stopped, Ended: now.ended, Traced: now.traced,
	})
}
