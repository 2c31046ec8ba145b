package env

import (
	"fmt"
	"time"
)

// Defaults of HeartbeatPeriod and HeartbeatTimeout: the detector's η and δ.
const (
	DefaultHeartbeatPeriod  = 100 * time.Millisecond
	DefaultHeartbeatTimeout = 10 * DefaultHeartbeatPeriod
)

const (
	// minHeartbeatPeriod is the resolution of the processes' clocks.
	minHeartbeatPeriod = time.Millisecond
	// minPeriods is the lowest δ/η. Below it, one late heartbeat would be a death.
	minPeriods = 2
)

// ReadHeartbeats reads η and δ, and completes them.
func ReadHeartbeats() (period, timeout time.Duration, err error) {
	if period, err = duration(HeartbeatPeriod, 0); err != nil {
		return 0, 0, err
	}
	if timeout, err = duration(HeartbeatTimeout, 0); err != nil {
		return 0, 0, err
	}
	if period, timeout, err = CompleteHeartbeats(period, timeout); err != nil {
		return 0, 0, fmt.Errorf("%s, %s: %w", HeartbeatPeriod, HeartbeatTimeout, err)
	}
	return period, timeout, nil
}

// CompleteHeartbeats sets the one of η and δ that isn't given (0), or says what is wrong with them.
// A shorter timeout than the default shortens the period, and a longer period lengthens the
// timeout, in the ratio of the defaults.
func CompleteHeartbeats(period, timeout time.Duration) (time.Duration, time.Duration, error) {
	const ratio = DefaultHeartbeatTimeout / DefaultHeartbeatPeriod
	switch {
	case period < 0 || timeout < 0:
		return 0, 0, fmt.Errorf("the heartbeat period (%v) and timeout (%v) must not be negative", period, timeout)
	case period == 0 && timeout > 0 && timeout < ratio*minHeartbeatPeriod:
		return 0, 0, fmt.Errorf("the heartbeat timeout must be at least %v where no period is given, not %v",
			ratio*minHeartbeatPeriod, timeout)
	case period == 0 && timeout > 0:
		period = min(DefaultHeartbeatPeriod, timeout/ratio) // the default is cheap
	case period == 0:
		period = DefaultHeartbeatPeriod
	case period < minHeartbeatPeriod:
		return 0, 0, fmt.Errorf("the heartbeat period must be at least %v, not %v", minHeartbeatPeriod, period)
	}
	if timeout == 0 {
		timeout = max(DefaultHeartbeatTimeout, ratio*period)
	}
	if timeout < minPeriods*period {
		return 0, 0, fmt.Errorf("the heartbeat timeout (%v) must be at least %d periods (of %v)", timeout, minPeriods, period)
	}
	return period, timeout, nil
}
