package comm_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// errCrash is what a rank returns that crashes on purpose.
var errCrash = errors.New("crashed on purpose")

// local runs a job of goroutines: run at every replica of every rank. A process that returns an
// error has died. Any error but errCrash fails the test.
func local(t *testing.T, ranks, replicas int, run func(world *comm.Comm, replica int) error) {
	t.Helper()
	members, err := join.Local(join.LocalConfig{Ranks: ranks, Replicas: replicas})
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			world, err := comm.World(m.Engine)
			if err == nil {
				err = run(world, i/ranks)
			}
			if err == nil {
				err = m.Leave()
			} else {
				m.Die()
			}
			errs[i] = err
		})
	}
	end := make(chan bool)
	go func() { wg.Wait(); close(end) }()
	select {
	case <-end:
	case <-time.After(2 * time.Minute):
		panic("the job hangs")
	}
	for i, err := range errs {
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatalf("process %d of %dx%d: %v", i, ranks, replicas, err)
		}
	}
}

// shapes are jobs of several numbers of ranks and replicas.
var shapes = [][2]int{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}, {13, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 2}, {4, 3}}

func inEveryShape(t *testing.T, run func(world *comm.Comm, replica int) error) {
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(t *testing.T) { local(t, s[0], s[1], run) })
	}
}

// sendrecv sends and receives at once.
func sendrecv(c *comm.Comm, data []byte, dest int, in []byte, source, tag int) (comm.Status, error) {
	r, err := c.Irecv(in, source, tag)
	if err != nil {
		return comm.Status{}, err
	}
	if err := c.Send(data, dest, tag); err != nil {
		return comm.Status{}, err
	}
	return r.Wait()
}
