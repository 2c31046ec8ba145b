package launcher

import (
	"fmt"
	"time"

	"banyan/internal/job/env"
)

// Defaults of the failure detector: η and δ. Where only one is given, the other
// follows in their ratio.
const (
	DefaultHeartbeatPeriod  = env.DefaultHeartbeatPeriod
	DefaultHeartbeatTimeout = env.DefaultHeartbeatTimeout
)

const (
	// minHeartbeatPeriod is the grain of the processes' clocks.
	minHeartbeatPeriod = time.Millisecond
	// minPeriods is the least δ/η: with less, one late heartbeat is a death.
	minPeriods = 2
	// safePeriods is the δ/η below which a process can't always tell that it
	// was itself stopped, rather than another (internal/proto/detector, wake).
	// It needs some more: twice the time that a message takes.
	safePeriods = 4
	// noTimeout is longer than any job; twice as much is still a valid time.
	noTimeout = 100_000 * time.Hour
)

// checkHeartbeats completes η and δ, or says what is wrong with them.
func (p *plan) checkHeartbeats() error {
	period, timeout := p.HeartbeatPeriod, p.HeartbeatTimeout
	switch {
	case period < 0 || timeout < 0:
		return fmt.Errorf("the heartbeat period (%v) and timeout (%v) must not be negative", period, timeout)
	case p.Debug && timeout > 0:
		return fmt.Errorf("with debug there is no heartbeat timeout, so it can't be %v", timeout)
	case period == 0 && timeout == 0 || period == 0 && timeout >= DefaultHeartbeatTimeout:
		period = DefaultHeartbeatPeriod // more often than needed, and cheap
	case period == 0:
		period = timeout * DefaultHeartbeatPeriod / DefaultHeartbeatTimeout
	}
	switch {
	case p.Debug:
		timeout = noTimeout
	case timeout == 0:
		timeout = max(DefaultHeartbeatTimeout, period*(DefaultHeartbeatTimeout/DefaultHeartbeatPeriod))
	}
	if p.HeartbeatPeriod == 0 && period < minHeartbeatPeriod {
		return fmt.Errorf("the heartbeat timeout must be at least %v where no period is given, not %v",
			minHeartbeatPeriod*DefaultHeartbeatTimeout/DefaultHeartbeatPeriod, timeout)
	}
	if period < minHeartbeatPeriod {
		return fmt.Errorf("the heartbeat period must be at least %v, not %v", minHeartbeatPeriod, period)
	}
	if timeout < minPeriods*period {
		return fmt.Errorf("the heartbeat timeout (%v) must be at least %d periods (of %v)", timeout, minPeriods, period)
	}
	p.HeartbeatPeriod, p.HeartbeatTimeout = period, timeout
	return nil
}

// tight is a warning, if η and δ call for one.
func (p *plan) heartbeatWarning() string {
	if p.HeartbeatTimeout >= safePeriods*p.HeartbeatPeriod {
		return ""
	}
	return fmt.Sprintf("with a heartbeat timeout (%v) below %d periods (of %v), a process that was itself held up may take others for dead",
		p.HeartbeatTimeout, safePeriods, p.HeartbeatPeriod)
}
