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

// ReadHeartbeats reads η and δ. Where only one is set, the other follows as in "banyan run": a
// shorter timeout shortens the period, and a longer period lengthens the timeout, in the ratio of
// the defaults.
func ReadHeartbeats() (period, timeout time.Duration, err error) {
	const ratio = DefaultHeartbeatTimeout / DefaultHeartbeatPeriod
	if timeout, err = duration(HeartbeatTimeout, 0); err != nil {
		return 0, 0, err
	}
	period = DefaultHeartbeatPeriod
	if timeout != 0 {
		period = max(time.Millisecond, min(period, timeout/ratio))
	}
	if period, err = duration(HeartbeatPeriod, period); err != nil {
		return 0, 0, err
	}
	if timeout == 0 {
		timeout = max(DefaultHeartbeatTimeout, ratio*period)
	}
	if timeout < 2*period { // banyan run says more about it
		return 0, 0, fmt.Errorf("%s=%v must be at least twice %s=%v", HeartbeatTimeout, timeout, HeartbeatPeriod, period)
	}
	return period, timeout, nil
}
