package lane

import (
	"testing"

	"banyan/internal/testing/cprogram"
)

// A test of requests of which C knows one and only Go the other makes progress, as one of Go's
// alone does: MPI_Testall said "not yet" without asking Go, and programs that test in loops spun.
func TestMixedRequests(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", cprogram.Compile(t, "mixed"))
	if o.Code != 0 || o.Stdout != "good\n" {
		t.Error(o)
	}
}
