package test

import (
	"fmt"
	"strings"
	"testing"
)

// The program itself checks sends, receives, probes and requests of all kinds. The test runs it on
// several numbers of ranks, with several threads, replicated, and with a process that dies in the
// middle.
func TestPointToPoint(t *testing.T) {
	program := compile(t, "point")
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { job(t, n, program).fine(t) })
	}
	t.Run("threads", func(t *testing.T) { job(t, 2, program, "threads").fine(t) })
	o := run(t, program, "mistake")
	if want := "MPI_Send on MPI_COMM_WORLD, rank 0: the destination is 7, and the communicator has 1 ranks (MPI_ERR_RANK)"; o.code == 0 || !strings.Contains(o.stderr, want) {
		t.Errorf("want %q: %v", want, o)
	}
	replicated := []string{"run", "-n", "2", "--replicas", "2"}
	t.Run("replicated", func(t *testing.T) {
		run(t, tool("banyan"), append(replicated, program)...).fine(t)
	})
	for _, when := range []int{10, 35, 60} {
		t.Run(fmt.Sprintf("a replica dies at message %d", when), func(t *testing.T) {
			fault := fmt.Sprintf("kill rank=1 replica=0 at=send:%d", when)
			o := run(t, tool("banyan"), append(replicated, "--fault", fault, program)...)
			if o.fine(t); !strings.Contains(o.stderr, "died") {
				t.Error("no process died")
			}
		})
	}
}
