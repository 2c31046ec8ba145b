package test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

var threadJobs = flag.Int("threadjobs", 2, "how many jobs of each kind TestThreadsAfterADeath runs")

// Several threads of each rank communicate while a process is killed. With named sources the job
// goes on. Where they receive from any source it ends as it should, or says why it can't, with the
// call. Nothing hangs: all four of four such jobs once did.
func TestThreadsAfterADeath(t *testing.T) {
	const says = "MPI_Recv on "
	const why = "several threads of the program communicate, and this call receives from any source (called at threads.c:25)"
	program := cprogram.Compile(t, "threads")
	sums := "402 403 404 405\n" // of 3 ranks: 400 rounds, and what rank 2 began with
	for _, kind := range []string{"named", "any"} {
		refused := 0
		for seed := range *threadJobs {
			plan := fmt.Sprintf("random count=1 within=send:600 seed=%d action=kill", seed)
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", "--timeout", "60", "--fault", plan, program, kind)
			switch {
			case o.Code == 0 && o.Stdout == sums:
			case kind == "any" && o.Code == 1 && strings.Contains(o.Stderr, says) && strings.Contains(o.Stderr, why):
				refused++
			default:
				t.Fatalf("%s, --fault %q: %v", kind, plan, o)
			}
		}
		t.Logf("%s: %d of %d jobs were refused", kind, refused, *threadJobs)
	}
	if o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", "--timeout", "60", program, "any"); o.Code != 0 || o.Stdout != sums {
		t.Errorf("without a death: %v", o)
	}
}
