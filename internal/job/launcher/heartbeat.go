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
	// safePeriods is the δ/η below which a process that was paused can't always tell that it was
	// itself paused, not another (internal/proto/detector, wake). To be exact, δ must exceed 4η by
	// twice the time of a message.
	safePeriods = 4
	// noTimeout is longer than any job. Twice as much is still a valid time.
	noTimeout = 100_000 * time.Hour
)

// checkHeartbeats completes η and δ, or says what is wrong with them. A job under a debugger has no
// timeout.
func (p *plan) checkHeartbeats() error {
	if p.Debug && p.HeartbeatTimeout > 0 {
		return fmt.Errorf("with debug there is no heartbeat timeout, so it can't be %v", p.HeartbeatTimeout)
	}
	period, timeout, err := env.CompleteHeartbeats(p.HeartbeatPeriod, p.HeartbeatTimeout)
	if err != nil {
		return err
	}
	if p.Debug {
		timeout = noTimeout
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
