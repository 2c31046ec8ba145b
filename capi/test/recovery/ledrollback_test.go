package recovery

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

var ledRollbacks = flag.Int("ledrollbacks", 1, "how many jobs of each kind TestLedRollsBack runs")

// TestLedRollsBack kills all replicas of a rank, one after the other or at once, in programs that
// aren't send-deterministic. The program notices parts of a snapshot that are of different moments,
// replicas that decide different things, and a start that isn't the first one's. What it prints is
// that of an undisturbed job. Process k*4+r is replica k of rank r.
func TestLedRollsBack(t *testing.T) {
	program := cprogram.Compile(t, "ledrollback")
	calm := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", program, "120")
	if calm.Code != 0 || !strings.HasSuffix(calm.Stdout, "end\n") {
		t.Fatal(calm)
	}
	for _, tc := range []struct {
		name, deaths string
		flags        []string
	}{
		{"leader of the master first", "0:35 4:60", []string{"--order", "leader"}},
		{"follower first", "4:35 0:60 1:85 5:85", []string{"--order", "leader"}},
		{"worker", "2:35 6:60", []string{"--order", "leader", "--verify"}},
		{"tcp", "0:35 4:60", []string{"--order", "leader", "--transport", "tcp"}},
		{"auto", "0:35 4:60 1:85 5:85", []string{"--order", "auto"}},
		{"heal", "0:30 0:60 4:60 3:90", []string{"--order", "leader", "--heal"}},
		{"clock", "0:35 4:60", []string{"--order", "leader,clock"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range *ledRollbacks {
				args := append([]string{"run", "-n", "4", "--replicas", "2", "--rollback", "--snapshot-every", "50ms", "--timeout", "100"}, tc.flags...)
				o := cprogram.Run(t, cprogram.Tool("banyan"), append(args, program, "120", "10000", filepath.Join(t.TempDir(), fmt.Sprint("died", i)), tc.deaths)...)
				if o.Code != 0 || o.Stdout != calm.Stdout || !strings.Contains(o.Stderr, "goes back to snapshot") || strings.Contains(o.Stderr, "differ") || strings.Contains(o.Stderr, "other bytes") {
					t.Fatalf("%v, deaths %q: exit code %d\nstderr: %.5000s\nthe output is the same up to byte %d of %d",
						tc.flags, tc.deaths, o.Code, o.Stderr, same(o.Stdout, calm.Stdout), len(calm.Stdout))
				}
			}
		})
	}
}

// TestLedThreadsRollBack does so with threads, which are created for each phase, or outlive it.
// What is decided after a snapshot is decided again, so the program prints other numbers.
func TestLedThreadsRollBack(t *testing.T) {
	program := cprogram.Compile(t, "led")
	const phases = 60
	for _, name := range []string{"threads", "pool"} {
		t.Run(name, func(t *testing.T) {
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", "2", "--order", "leader", "--rollback", "--snapshot-every", "30ms", "--timeout", "100",
				"--fault", "kill rank=0 replica=0 at=send:900; kill rank=0 replica=1 at=send:1800", program, name, "40", fmt.Sprint(phases))
			if o.Code != 0 || strings.Count(o.Stdout, name+" ") != phases || !strings.Contains(o.Stderr, "goes back to snapshot") {
				t.Fatal(o)
			}
		})
	}
}
