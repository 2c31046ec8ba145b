package env

import (
	"strings"
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
	for _, tc := range []struct{ period, timeout, want string }{
		{"", "9ms", "at least 10ms where no period is given"},
		{"900µs", "", "at least 1ms"},
		{"100ms", "199ms", "at least 2 periods (of 100ms)"},
		{"100ms", "soon", "must be a positive duration"},
	} {
		t.Setenv(HeartbeatPeriod, tc.period)
		t.Setenv(HeartbeatTimeout, tc.timeout)
		if _, _, err := ReadHeartbeats(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v", tc, err)
		}
	}
}
