package test

import (
	"fmt"
	"strings"
	"testing"
)

// In a C program whose ranks are killed during broadcasts, all ranks that live get all data.
func TestBcastSurvives(t *testing.T) {
	program := compile(t, "bcast")
	killed := 0
	for seed, n := range []int{4, 6, 3} {
		for _, transport := range []string{"shm", "tcp"} {
			o := run(t, tool("banyan"), "run", "-n", fmt.Sprint(n), "--transport", transport, program, fmt.Sprint(seed+1), "400")
			o.noTrace(t)
			died := strings.Count(o.stderr, "the program goes on without it")
			if got := strings.Count(o.stdout, " has all\n"); o.code != 0 || got < 2 || got != n-died {
				t.Errorf("%d ranks over %s: %d died, %d have all\n%v", n, transport, died, got, o)
			}
			killed += died
		}
	}
	if killed == 0 {
		t.Error("no rank was killed")
	}
}
