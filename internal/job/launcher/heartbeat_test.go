package launcher

import (
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
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

// Where a core has many processes, the defaults follow. What the user names stays.
func TestHeartbeatsArePaced(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		perCore         int
		period, timeout time.Duration
		debug           bool
		wantPeriod      time.Duration
		wantTimeout     time.Duration
	}{
		{perCore: 1, wantPeriod: 100 * ms, wantTimeout: time.Second},
		{perCore: 50, wantPeriod: 100 * ms, wantTimeout: time.Second},
		{perCore: 128, wantPeriod: 256 * ms, wantTimeout: 2560 * ms},
		{perCore: 512, wantPeriod: 1024 * ms, wantTimeout: 10240 * ms},
		{perCore: 512, period: 100 * ms, wantPeriod: 100 * ms, wantTimeout: time.Second},
		{perCore: 512, timeout: 2 * time.Second, wantPeriod: 100 * ms, wantTimeout: 2 * time.Second},
		{perCore: 512, debug: true, wantPeriod: 1024 * ms, wantTimeout: noTimeout},
	} {
		p := &plan{Config: Config{HeartbeatPeriod: tc.period, HeartbeatTimeout: tc.timeout, Debug: tc.debug}}
		if err := p.checkHeartbeats(); err != nil {
			t.Fatal(err)
		}
		p.paceHeartbeats(tc.perCore)
		if p.HeartbeatPeriod != tc.wantPeriod || p.HeartbeatTimeout != tc.wantTimeout {
			t.Errorf("%+v: %v, %v", tc, p.HeartbeatPeriod, p.HeartbeatTimeout)
		}
	}
}

// The host with the most processes on a core counts.
func TestProcessesPerCore(t *testing.T) {
	two, four := agent.Host{Cores: []int{0, 1}}, agent.Host{Cores: []int{0, 1, 2, 3}}
	h := &hosts{plan: &plan{Config: Config{Places: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}}}, found: []agent.Host{two, four}}
	if n := h.perCore(); n != 3 {
		t.Errorf("%d processes on a core, want 3", n)
	}
}
