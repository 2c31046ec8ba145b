package survival

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// In a C program whose ranks are killed during broadcasts, all ranks that live get all data.
func TestBcastSurvives(t *testing.T) {
	program := cprogram.Compile(t, "bcast")
	killed := 0
	for seed, n := range []int{4, 6, 3} {
		for _, transport := range []string{"shm", "tcp"} {
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", fmt.Sprint(n), "--transport", transport, program, fmt.Sprint(seed+1), "400")
			o.NoTrace(t)
			died := strings.Count(o.Stderr, "the program goes on without it")
			if got := strings.Count(o.Stdout, " has all\n"); o.Code != 0 || got < 2 || got != n-died {
				t.Errorf("%d ranks over %s: %d died, %d have all\n%v", n, transport, died, got, o)
			}
			killed += died
		}
	}
	if killed == 0 {
		t.Error("no rank was killed")
	}
}
