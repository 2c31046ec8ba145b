package lane

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// commons is how many random small collectives each job of TestCommons makes: make soak says more.
var commons = flag.Int("commons", 500, "random small collectives of a job, with the lane open and closed")

// Random small collectives have the same cprogram.Outcome whether C carries them out or Go.
func TestCommons(t *testing.T) {
	program := cprogram.Compile(t, "commons")
	for seed, kind := range []string{"plain", "threads", "signals", "plain"} {
		for _, n := range []int{2, 4, 3} {
			args := []string{"run", "-n", fmt.Sprint(n), program, kind, fmt.Sprint(seed), fmt.Sprint(*commons)}
			open := cprogram.Run(t, cprogram.Tool("banyan"), args...)
			closed := cprogram.Run(t, "/usr/bin/env", append([]string{laneOff, cprogram.Tool("banyan")}, args...)...)
			open.Fine(t)
			closed.Fine(t)
			if a, b := cprogram.Sorted(open.Stdout), cprogram.Sorted(closed.Stdout); a != b || strings.Count(a, "sum") < n {
				t.Fatalf("%s, %d ranks: in C\n%s\nin Go\n%s", kind, n, a, b)
			}
		}
	}
}

// Ranks are killed at random. Of a broadcast all ranks that are left have the data, or none.
func TestCommonsKill(t *testing.T) {
	program := cprogram.Compile(t, "commons")
	killed := 0
	for seed := range max(*commons/250, 6) {
		n := []int{2, 3, 4, 6}[seed%4]
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", fmt.Sprint(n), program, "kill", fmt.Sprint(seed), "2000")
		o.NoTrace(t)
		lines := strings.Split(cprogram.Sorted(o.Stdout), "\n")
		killed += n - len(lines)
		_, first, _ := strings.Cut(lines[0], "misses")
		for _, l := range lines {
			if _, this, _ := strings.Cut(l, "misses"); this != first {
				t.Fatalf("seed %d: some ranks miss broadcasts that others have\n%v", seed, o)
			}
		}
		if strings.Contains(o.Stderr, "not so") {
			t.Fatalf("seed %d: %v", seed, o)
		}
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
}
