package launcher

import (
	"strings"
	"testing"
	"time"
)

func TestHeartbeats(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		period, timeout         time.Duration
		debug                   bool
		wantPeriod, wantTimeout time.Duration
		tight                   bool
	}{
		{wantPeriod: 100 * ms, wantTimeout: time.Second},
		{timeout: 300 * ms, wantPeriod: 30 * ms, wantTimeout: 300 * ms},
		{timeout: 60 * time.Second, wantPeriod: 100 * ms, wantTimeout: 60 * time.Second},
		{period: 10 * ms, wantPeriod: 10 * ms, wantTimeout: time.Second},
		{period: time.Second, wantPeriod: time.Second, wantTimeout: 10 * time.Second},
		{period: 10 * ms, timeout: 40 * ms, wantPeriod: 10 * ms, wantTimeout: 40 * ms},
		{period: 100 * ms, timeout: 300 * ms, wantPeriod: 100 * ms, wantTimeout: 300 * ms, tight: true},
		{debug: true, wantPeriod: 100 * ms, wantTimeout: noTimeout},
		{period: 5 * ms, debug: true, wantPeriod: 5 * ms, wantTimeout: noTimeout},
	} {
		p := &plan{Config: Config{HeartbeatPeriod: tc.period, HeartbeatTimeout: tc.timeout, Debug: tc.debug}}
		err := p.checkHeartbeats()
		if err != nil || p.HeartbeatPeriod != tc.wantPeriod || p.HeartbeatTimeout != tc.wantTimeout || (p.heartbeatWarning() != "") != tc.tight {
			t.Errorf("%+v: got %v, %v, %q, %v", tc, p.HeartbeatPeriod, p.HeartbeatTimeout, p.heartbeatWarning(), err)
		}
	}
	for _, tc := range []struct {
		period, timeout time.Duration
		debug           bool
		want            string
	}{
		{period: -ms, want: "negative"},
		{timeout: -ms, want: "negative"},
		{period: 100 * ms, timeout: 199 * ms, want: "at least 2 periods (of 100ms)"},
		{period: ms / 2, want: "at least 1ms"},
		{timeout: ms, want: "the heartbeat timeout must be at least 10ms"},
		{timeout: time.Second, debug: true, want: "there is no heartbeat timeout"},
	} {
		p := &plan{Config: Config{HeartbeatPeriod: tc.period, HeartbeatTimeout: tc.timeout, Debug: tc.debug}}
		if err := p.checkHeartbeats(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, %v, %v", tc, p.HeartbeatPeriod, p.HeartbeatTimeout, err)
		}
	}
}
