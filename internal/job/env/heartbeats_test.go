package env

import (
	"testing"
	"time"
)

func TestHeartbeatsFollow(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		period, timeout         string
		wantPeriod, wantTimeout time.Duration
	}{
		{"", "", 100 * ms, time.Second},
		{"", "300ms", 30 * ms, 300 * ms},
		{"", "10s", 100 * ms, 10 * time.Second},
		{"10ms", "", 10 * ms, time.Second},
		{"1s", "", time.Second, 10 * time.Second},
		{"100ms", "300ms", 100 * ms, 300 * ms},
	} {
		t.Setenv(HeartbeatPeriod, tc.period)
		t.Setenv(HeartbeatTimeout, tc.timeout)
		if period, timeout, err := ReadHeartbeats(); err != nil || period != tc.wantPeriod || timeout != tc.wantTimeout {
			t.Errorf("%+v: got %v, %v, %v", tc, period, timeout, err)
		}
	}
}
