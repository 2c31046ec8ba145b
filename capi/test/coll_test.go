package test

import (
	"fmt"
	"strings"
	"testing"
)

// The program itself checks all collectives: blocking, nonblocking and persistent ones. The test
// runs it on several numbers of ranks, replicated, and with a process that dies in the middle.
func TestCollectives(t *testing.T) {
	program := compile(t, "coll")
	for _, n := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { job(t, n, program).fine(t) })
	}
	o := run(t, program, "mistake")
	if want := "MPI_Bcast on MPI_COMM_WORLD, rank 0: the root is 1, and the communicator has 1 ranks (MPI_ERR_ROOT)"; o.code == 0 || !strings.Contains(o.stderr, want) {
		t.Errorf("want %q: %v", want, o)
	}
	replicated := []string{"run", "-n", "3", "--replicas", "2"}
	t.Run("replicated", func(t *testing.T) {
		run(t, tool("banyan"), append(replicated, program)...).fine(t)
	})
	for _, when := range []int{20, 70, 120} {
		t.Run(fmt.Sprintf("a replica dies at message %d", when), func(t *testing.T) {
			fault := fmt.Sprintf("kill rank=1 replica=1 at=send:%d", when)
			o := run(t, tool("banyan"), append(replicated, "--fault", fault, program)...)
			if o.fine(t); !strings.Contains(o.stderr, "died") {
				t.Error("no process died")
			}
		})
	}
}
