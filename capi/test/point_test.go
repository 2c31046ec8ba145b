package test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// The program itself checks sends, receives, probes and requests of all kinds. The test runs it on
// several numbers of ranks, with several threads, replicated, and with a process that dies in the
// middle.
func TestPointToPoint(t *testing.T) {
	program := cprogram.Compile(t, "point")
	for _, n := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { cprogram.Job(t, n, program).Fine(t) })
	}
	t.Run("threads", func(t *testing.T) { cprogram.Job(t, 2, program, "threads").Fine(t) })
	o := cprogram.Run(t, program, "mistake")
	if want := "MPI_Send on MPI_COMM_WORLD, rank 0: the destination is 7, and the communicator has 1 ranks (MPI_ERR_RANK)"; o.Code == 0 || !strings.Contains(o.Stderr, want) {
		t.Errorf("want %q: %v", want, o)
	}
	replicated := []string{"run", "-n", "2", "--replicas", "2"}
	t.Run("replicated", func(t *testing.T) {
		cprogram.Run(t, cprogram.Tool("banyan"), append(replicated, program)...).Fine(t)
	})
	for _, when := range []int{10, 35, 60} {
		t.Run(fmt.Sprintf("a replica dies at message %d", when), func(t *testing.T) {
			fault := fmt.Sprintf("kill rank=1 replica=0 at=send:%d", when)
			o := cprogram.Run(t, cprogram.Tool("banyan"), append(replicated, "--fault", fault, program)...)
			if o.Fine(t); !strings.Contains(o.Stderr, "died") {
				t.Error("no process died")
			}
		})
	}
}
