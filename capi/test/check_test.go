package test

import (
	"strings"
	"testing"
)

// What isn't send-deterministic in a program in C is found, by the names of MPI's
// functions; the gaps of derived datatypes aren't data, and sums of timers no reason to fail.
func TestCheck(t *testing.T) {
	program := compile(t, "replicas")
	for _, c := range []struct {
		name string
		code int
		says []string
	}{
		{"farm", 1, []string{
			"rank 0: its replicas 0 and 1 differ in call", "in the destination", ": MPI_Send to rank ", ", 8 bytes",
			"most likely because of receive", "(any source)", "told by MPI_Recv"}},
		{"replies", 1, []string{"in the destination", "no wildcard", "told by MPI_Waitany"}},
		{"alike", 0, []string{"no difference in what replicas send found in 2 runs"}},
		{"timers", 0, []string{"no difference", "warning: in ", "MPI_Reduce with root 0, 8 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runs := "20"
			if c.code == 0 {
				runs = "2"
			}
			o := run(t, tool("banyan"), "check", "-n", "4", "--runs", runs, program, c.name)
			if o.code != c.code {
				t.Fatalf("want code %d: %v", c.code, o)
			}
			for _, s := range c.says {
				if !strings.Contains(o.stdout, s) {
					t.Errorf("it doesn't say %q: %v", s, o)
				}
			}
			if c.name == "alike" && strings.Contains(o.stdout, "warning") {
				t.Error(o)
			}
		})
	}
}
