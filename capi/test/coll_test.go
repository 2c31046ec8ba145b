package test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// The program itself checks all collectives: blocking, nonblocking and persistent ones. The test
// runs it on several numbers of ranks, replicated, and with a process that dies in the middle.
func TestCollectives(t *testing.T) {
	program := cprogram.Compile(t, "coll")
	for _, n := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { cprogram.Job(t, n, program).Fine(t) })
	}
	o := cprogram.Run(t, program, "mistake")
	if want := "MPI_Bcast on MPI_COMM_WORLD, rank 0: the root is 1, and the communicator has 1 ranks (MPI_ERR_ROOT)"; o.Code == 0 || !strings.Contains(o.Stderr, want) {
		t.Errorf("want %q: %v", want, o)
	}
	replicated := []string{"run", "-n", "3", "--replicas", "2"}
	t.Run("replicated", func(t *testing.T) {
		cprogram.Run(t, cprogram.Tool("banyan"), append(replicated, program)...).Fine(t)
	})
	for _, when := range []int{20, 70, 120} {
		t.Run(fmt.Sprintf("a replica dies at message %d", when), func(t *testing.T) {
			fault := fmt.Sprintf("kill rank=1 replica=1 at=send:%d", when)
			o := cprogram.Run(t, cprogram.Tool("banyan"), append(replicated, "--fault", fault, program)...)
			if o.Fine(t); !strings.Contains(o.Stderr, "died") {
				t.Error("no process died")
			}
		})
	}
}
