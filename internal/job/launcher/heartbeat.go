package launcher

import (
	"fmt"
	"time"

	"banyan/internal/job/env"
)

// Defaults of the failure detector's η and δ. If only one is given, the other follows in the ratio
// of the defaults.
const (
	DefaultHeartbeatPeriod  = env.DefaultHeartbeatPeriod
	DefaultHeartbeatTimeout = env.DefaultHeartbeatTimeout
)

const (
	// minHeartbeatPeriod is the resolution of the processes' clocks.
	minHeartbeatPeriod = time.Millisecond
	// minPeriods is the lowest δ/η. Below it, one late heartbeat would be a death.
	minPeriods = 2
	// safePeriods is the δ/η below which a process that was paused can't always tell that it was
	// itself paused, not another (internal/proto/detector, wake). To be exact, δ must exceed 4η by
	// twice the time of a message.
	safePeriods = 4
	// noTimeout is longer than any job. Twice as much is still a valid time.
	noTimeout = 100_000 * time.Hour
)

// checkHeartbeats sets the one of η and δ that isn't given, or says what is wrong with them.
func (p *plan) checkHeartbeats() error {
	period, timeout := p.HeartbeatPeriod, p.HeartbeatTimeout
	switch {
	case period < 0 || timeout < 0:
		return fmt.Errorf("the heartbeat period (%v) and timeout (%v) must not be negative", period, timeout)
	case p.Debug && timeout > 0:
		return fmt.Errorf("with debug there is no heartbeat timeout, so it can't be %v", timeout)
	case period == 0 && timeout == 0 || period == 0 && timeout >= DefaultHeartbeatTimeout:
		period = DefaultHeartbeatPeriod // shorter than needed, but cheap
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

// heartbeatWarning is a warning about η and δ, empty if they need none.
func (p *plan) heartbeatWarning() string {
	if p.HeartbeatTimeout >= safePeriods*p.HeartbeatPeriod {
		return ""
	}
	return fmt.Sprintf("with a heartbeat timeout (%v) below %d periods (of %v), a process that was itself paused may take others for dead",
		p.HeartbeatTimeout, safePeriods, p.HeartbeatPeriod)
}
