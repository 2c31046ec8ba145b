package rma

import (
	"testing"
	"unsafe"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// local runs a job of goroutines.
func local(t *testing.T, ranks, replicas int, run func(world *comm.Comm) error) {
	t.Helper()
	localIn(t, join.LocalConfig{Ranks: ranks, Replicas: replicas}, run)
}

// localLed is local in leader order.
func localLed(t *testing.T, ranks, replicas int, run func(world *comm.Comm) error) {
	t.Helper()
	localIn(t, join.LocalConfig{Ranks: ranks, Replicas: replicas, Leader: true}, run)
}

func localIn(t *testing.T, cfg join.LocalConfig, run func(world *comm.Comm) error) {
	t.Helper()
	jointest.Run(t, cfg, func(_ int, m *join.Member) error {
		world, err := comm.World(m.Engine)
		if err != nil {
			return err
		}
		return run(world)
	})
}

// Hosts of ranks.
func together(proto.Rank) int32  { return 0 }
func inPairs(r proto.Rank) int32 { return int32(r) / 2 }

// made is a window with this rank's part.
type made struct {
	*Window
	inner *comm.Comm
	own   []int64
}

// open makes a window of so many integers for each rank, which the ranks bring if brings is set.
// If it is closed the system copies nothing.
func open(world *comm.Comm, integers int, brings, closed bool, host func(proto.Rank) int32) (*made, error) {
	inner, err := world.Dup()
	if err != nil {
		return nil, err
	}
	own := make([]int64, integers)
	memory, err := inner.OpenWindow(comm.WindowConfig{
		Size: int64(8 * integers), Unit: 8, Own: unsafe.Pointer(&own[0]), Brings: brings, Closed: closed, Apart: true, Host: host,
	})
	if err != nil {
		return nil, err
	}
	answers, err := Order(inner, false, false)
	if err != nil {
		return nil, err
	}
	m := &made{Open(Config{Comm: inner, Memory: memory, Answers: answers}), inner, own}
	if !brings {
		m.own = unsafe.Slice((*int64)(memory.Parts[world.Rank()].At), integers)
	}
	return m, nil
}

// close frees the window. All ranks call it.
func (m *made) close() error {
	err := m.inner.Barrier().Run()
	if err == nil {
		err = m.Freed()
	}
	m.Window.Close()
	m.memory.Close()
	m.inner.Free()
	return err
}
