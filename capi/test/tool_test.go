package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// Tools find the job's settings and what the process counts, and hear of deaths.
func TestTool(t *testing.T) {
	program := cprogram.Compile(t, "tool")
	for _, x := range []struct {
		how   string
		flags []string
		lines []string
	}{
		{"variables", []string{"--transport", "tcp", "--heartbeat-period", "50ms", "--heartbeat-timeout", "2s"},
			[]string{"transport=tcp", "heartbeat_period=0.05", "heartbeat_timeout=2", "order=free", "bcast=auto", "replicas=1",
				"failures: 0 controls, 5 counters, 4 events"}},
		{"counts", nil, []string{"rank 0: counted", "rank 1: counted"}},
		{"counts", []string{"--transport", "tcp"}, []string{"rank 0: counted", "rank 1: counted"}},
		{"errors", nil, []string{"rank 0: refused", "rank 1: refused"}},
		{"control", nil, []string{"rank 0: tree=lame,correction=checked", "rank 1: tree=lame,correction=checked"}},
		{"deaths", []string{"--replicas", "2", "--fault", "kill rank=1 at=send:20"},
			[]string{"rank 0: a replica of rank 1 has died (0)", "rank 1: a replica of rank 1 has died (0)"}},
	} {
		args := append(append([]string{"run", "-n", "2"}, x.flags...), program, x.how)
		o := cprogram.Run(t, cprogram.Tool("banyan"), args...)
		for _, line := range x.lines {
			if !strings.Contains(o.Stdout, line+"\n") {
				t.Errorf("%s %q: without %q", x.how, x.flags, line)
			}
		}
		if o.Code != 0 || t.Failed() {
			t.Errorf("%s %q: %v", x.how, x.flags, o)
		}
		o.NoTrace(t)
	}
}
