package survival

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

var rmaLeds = flag.Int("rmaleds", 1, "how many jobs of each kind TestRmaLed runs")

// In leader order ranks lock and access each other's parts, and all replicas get the same
// (--verify, and what they print), also if leaders and followers are killed; no count, ticket or
// piece of work is lost or given twice.
func TestRmaLed(t *testing.T) {
	program := cprogram.Compile(t, "rmaled")
	for _, kind := range []string{"counter", "own", "tickets", "queue", "exposures", "mixed"} {
		t.Run(kind, func(t *testing.T) {
			for seed := range *rmaLeds {
				for _, flags := range [][]string{
					{"--replicas", "2", "--order", "leader"}, {"--replicas", "3", "--order", "leader,clock"},
					{"--replicas", "2", "--order", "auto", "--transport", "tcp"},
				} {
					plan := fmt.Sprintf("random count=3 within=send:60 seed=%d action=kill", 3*seed+len(flags))
					args := append([]string{"run", "-n", "3", "--verify", "--timeout", "60", "--fault", plan}, flags...)
					o := cprogram.Run(t, cprogram.Tool("banyan"), append(args, program, kind)...)
					if o.Code != 0 || !regexp.MustCompile(`^rmaled `+kind+` [0-9a-f]{16}\n$`).MatchString(o.Stdout) || strings.Contains(o.Stderr, "different bytes") || strings.Contains(o.Stderr, "differ") {
						t.Fatalf("%v: %v", args, o)
					}
				}
			}
		})
	}
}

// What has no order is refused, with a sentence that says what to do.
func TestRmaUnled(t *testing.T) {
	program := cprogram.Compile(t, "rmarefused")
	for _, c := range []struct {
		kind, says string
		flags      []string
	}{
		{"lock", "run the job with --order leader", nil},
		{"fetch", "run the job with --order leader", nil},
		{"test", "run the job with --order leader", nil},
		{"dynamic", "has other addresses in each replica", []string{"--order", "leader"}},
		{"no_locks", "without the hint no_locks", []string{"--order", "leader"}},
		{"threads", "threads that communicate at the same time", []string{"--order", "leader"}},
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "-n", "2", "--replicas", "2", "--timeout", "30"}, c.flags...), program, c.kind)...)
		if o.Code == 0 || !strings.Contains(o.Stderr, c.says) {
			t.Errorf("%s: %v, want a sentence with %q", c.kind, o, c.says)
		}
	}
}
