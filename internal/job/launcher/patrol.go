package launcher

import "time"

// patrolShare bounds the share of a core that a patrol takes: one part in so many.
const patrolShare = 50

// patrol is the timer of a round that is made again and again. A round is due after each period, or
// later if the rounds take long, as they do for thousands of processes.
type patrol struct {
	period time.Duration
	due    <-chan time.Time
}

func newPatrol(period time.Duration) *patrol {
	return &patrol{period, time.After(period)}
}

// make makes a round, and sets the time of the next.
func (p *patrol) make(round func()) {
	start := time.Now()
	round()
	p.due = time.After(max(p.period, patrolShare*time.Since(start)))
}
