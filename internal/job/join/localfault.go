package join

import (
	"fmt"
	"sync"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/env"
)

// A member of a local job is a goroutine, which nobody can kill. A member that a fault plan kills
// stops at its next call of the library: its engine is closed, and the caller ends the goroutine
// (Member.Killed). To the others it has died as a process does. A member that is stopped holds its
// engine's lock, so that nothing of it goes on but what the program computes. It is silent, and the
// others hold it for dead when δ is over. When all others have ended it is killed.

// struck is what faults do to a member.
type struck struct {
	timers []*time.Timer
	events []fault.Event // of the plan, for this member, at a time

	once   sync.Once
	gone   chan struct{} // closed when the member is killed or stopped
	mu     sync.Mutex
	killed bool
	thaw   chan struct{} // ends a stop
	melt   sync.Once
}

// resolve checks the plan, and says for how long a member may be silent.
func (cfg *LocalConfig) resolve() ([]fault.Event, time.Duration, error) {
	plan, err := fault.Parse(cfg.Faults)
	if err != nil {
		return nil, 0, err
	}
	events, err := plan.Resolve(cfg.Ranks, cfg.Replicas)
	if err != nil {
		return nil, 0, err
	}
	timeout := time.Duration(localTimeout)
	for _, e := range events {
		if e.At.Kind == fault.AtStep {
			return nil, 0, fmt.Errorf("%v: there are steps in simulations only", e)
		}
		if e.Action == fault.Stop {
			timeout = env.DefaultHeartbeatTimeout
		}
	}
	return events, timeout, nil
}

// ofMember are the events of one member.
func ofMember(events []fault.Event, rank, replica int) (own []fault.Event) {
	for _, e := range events {
		if e.Rank == rank && e.Replica == replica {
			own = append(own, e)
		}
	}
	return own
}

func (s *struck) begin(own []fault.Event) {
	s.gone, s.thaw = make(chan struct{}), make(chan struct{})
	for _, e := range own {
		if e.At.Kind == fault.After {
			s.events = append(s.events, e)
		}
	}
}

// start has the faults at a time strike.
func (s *struck) start(m *Member) {
	for _, e := range s.events {
		s.timers = append(s.timers, time.AfterFunc(e.At.Duration(), func() {
			if e.Action == fault.Stop {
				s.leaves(false)
				m.Engine.Freeze(s.thaw)
			}
			s.leaves(true)
			m.net.Kill(m.self)
			m.Engine.Close()
		}))
	}
}

// stop ends the timers.
func (s *struck) stop() {
	for _, t := range s.timers {
		t.Stop()
	}
}

// leaves notes that the member is killed or stopped.
func (s *struck) leaves(killed bool) {
	s.mu.Lock()
	s.killed = s.killed || killed
	s.mu.Unlock()
	s.once.Do(func() { close(s.gone) })
}

// strike is a fault just before a send. The engine's lock is held.
func (m *Member) strike(a fault.Action) {
	if a == fault.Stop {
		m.struck.leaves(false)
		<-m.struck.thaw
	}
	m.struck.leaves(true)
	m.net.Kill(m.self)
	m.Engine.Strike()
}

// Gone is closed when a fault has killed or stopped the member.
func (m *Member) Gone() <-chan struct{} { return m.struck.gone }

// Killed tells whether a fault has killed the member: its goroutines have to end.
func (m *Member) Killed() bool {
	m.struck.mu.Lock()
	defer m.struck.mu.Unlock()
	return m.struck.killed
}

// Thaw kills the member if a fault has stopped it.
func (m *Member) Thaw() { m.struck.melt.Do(func() { close(m.struck.thaw) }) }
