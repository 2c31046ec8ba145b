package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// NULL where a result is to be stored is an error with a class, and no crash; and what an error
// handler of the program stores is what the function returns.
func TestNulls(t *testing.T) {
	for n, flags := range [][]string{{"-n", "1"}, {"-n", "2"}, {"-n", "3", "--transport", "tcp"}, {"-n", "4", "--replicas", "2"}} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "--timeout", "50"}, flags...), cprogram.Compile(t, "nulls"))...)
		if o.Code != 0 || o.Stdout != strings.Repeat("good\n", n+1) || o.Stderr != "" {
			t.Errorf("%v: %v", flags, o)
		}
	}
}

// Collectives whose buffers overlap are errors at all ranks that can see it, whether C or Go would
// do the work, and those that come next work.
func TestOverlaps(t *testing.T) {
	program := cprogram.Compile(t, "overlaps")
	for _, flags := range [][]string{{"-n", "1"}, {"-n", "2"}, {"-n", "3"}, {"-n", "4"}, {"-n", "3", "--transport", "tcp"}, {"-n", "2", "--replicas", "2"}} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "--timeout", "50"}, flags...), program)...)
		if o.Code != 0 || o.Stdout != "good\n" || o.Stderr != "" {
			t.Errorf("%v: %v", flags, o)
		}
	}
}
