package comm_test

import (
	"fmt"
	"testing"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
)

// local runs a job of goroutines: run at every replica of every rank. A process that returns an
// error has died. Any error but jointest.ErrDies fails the test.
func local(t *testing.T, ranks, replicas int, run func(world *comm.Comm, replica int) error) {
	t.Helper()
	localWith(t, join.LocalConfig{Ranks: ranks, Replicas: replicas}, run)
}

// localWith is local with other choices, too.
func localWith(t *testing.T, cfg join.LocalConfig, run func(world *comm.Comm, replica int) error) {
	t.Helper()
	jointest.Run(t, cfg, func(i int, m *join.Member) error {
		world, err := comm.World(m.Engine)
		if err != nil {
			return err
		}
		return run(world, i/cfg.Ranks)
	})
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
