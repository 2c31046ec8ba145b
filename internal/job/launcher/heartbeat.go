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
	// beatShare is the least η for each process of a core. To send a heartbeat and to receive one
	// costs an otherwise idle process about 0.2 ms, so heartbeats take a tenth of a core's time.
	// A thousand processes on two cores would otherwise need three cores for them.
	beatShare = 2 * time.Millisecond
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
	p.paced = p.HeartbeatPeriod == 0 && p.HeartbeatTimeout == 0
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

// paceHeartbeats lengthens η where a core has many processes, and δ with it, unless the user has
// named either. perCore is how many processes a core has at most.
func (p *plan) paceHeartbeats(perCore int) {
	period := time.Duration(perCore) * beatShare
	if !p.paced || period <= p.HeartbeatPeriod {
		return
	}
	if p.HeartbeatPeriod = period; !p.Debug {
		p.HeartbeatTimeout = period * (DefaultHeartbeatTimeout / DefaultHeartbeatPeriod)
	}
}

// heartbeatWarning is a warning about η and δ, empty if they need none.
func (p *plan) heartbeatWarning() string {
	if p.HeartbeatTimeout >= safePeriods*p.HeartbeatPeriod {
		return ""
	}
	return fmt.Sprintf("with a heartbeat timeout (%v) below %d periods (of %v), a process that was itself paused may take others for dead",
		p.HeartbeatTimeout, safePeriods, p.HeartbeatPeriod)
}
