package survival

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A program that waits for a rank that is through ends with an error, which names the call and its
// line.
func TestForlorn(t *testing.T) {
	program := cprogram.Compile(t, "forlorn")
	for _, c := range []struct {
		name, says string
	}{
		{"receive", "MPI_Recv on MPI_COMM_WORLD, rank 0: rank 1 has finished and sends nothing more, so what this call waits for never comes (called at forlorn.c:29)"},
		{"any", "MPI_Recv on MPI_COMM_WORLD, rank 0: all other ranks have finished and send nothing more, so what this call waits for never comes (called at forlorn.c:31)"},
		{"probe", "MPI_Probe on MPI_COMM_WORLD, rank 0: rank 1 has finished and sends nothing more, so what this call waits for never comes (called at forlorn.c:33)"},
		{"bcast", "MPI_Bcast on MPI_COMM_WORLD, rank 0: rank 1 has finished and sends nothing more, so what this call waits for never comes (called at forlorn.c:35)"},
		{"all", "MPI_Waitall on MPI_COMM_WORLD, rank 0: MPI_Irecv failed: rank 1 has finished and sends nothing more, so what this call waits for never comes (called at forlorn.c:39)"},
		{"cancels", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", program, c.name)
			if (o.Code == 0) != (c.says == "") || !strings.Contains(o.Stderr, c.says) {
				t.Errorf("want %q: %v", c.says, o)
			}
		})
	}
}

// The replicas of a program whose rounds depend on the process have diverged. When one of each rank
// dies, what is left waits for a rank that is through: the job ends with an error. It used to hang.
func TestForlornReplicas(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", "--fault", "kill rank=0 replica=0 at=send:10; kill rank=1 replica=1 at=send:10",
		cprogram.Compile(t, "forlorn"), "rounds")
	const says = "MPI_Allreduce on MPI_COMM_WORLD, rank 0: rank 1 has finished and sends nothing more, so what this call waits for never comes (called at forlorn.c:17): replicas have sent different messages, which replication doesn't allow (send-determinism;"
	if o.Code != 1 || !strings.Contains(o.Stderr, says) {
		t.Errorf("want %q: %v", says, o)
	}
}
