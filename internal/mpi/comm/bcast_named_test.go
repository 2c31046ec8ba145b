package comm_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/job/join"
	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto/broadcast"
)

// schemes are the texts of all trees with all corrections that a job runs.
func schemes() (all []string) {
	for _, tree := range broadcast.TreeKinds {
		for c := broadcast.NoCorrection; c.Corrects() || c <= broadcast.Checked; c++ {
			text := fmt.Sprintf("tree=%s,correction=%v", tree, c)
			if _, err := env.ParseBcast(text); err == nil {
				all = append(all, text)
			}
		}
	}
	return all
}

// A job that names a tree runs it, however few its members are, and whether or not they share
// memory: along a chain each member but the last sends the data on.
func TestNamedTreeAlwaysRuns(t *testing.T) {
	scheme, err := env.ParseBcast("tree=chain,correction=none")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3, 4, 6} {
		for _, shared := range []bool{false, true} {
			for _, size := range []int{0, 8, 60_000} {
				members, err := join.Local(join.LocalConfig{Ranks: n, Replicas: 1, SharedMemory: shared, Scheme: scheme})
				if err != nil {
					t.Fatal(err)
				}
				var all, ready sync.WaitGroup
				ready.Add(n)
				for i, m := range members {
					all.Go(func() {
						w, err := comm.World(m.Engine)
						if err != nil {
							t.Error(err)
							return
						}
						data, want := make([]byte, size), bytes.Repeat([]byte{7}, size)
						if i == 1 {
							copy(data, want)
						}
						before := m.Engine.FramesSent()
						ready.Done()
						ready.Wait()
						if err := w.Bcast(data, 1).Run(); err != nil || !bytes.Equal(data, want) {
							t.Errorf("%d ranks, %d bytes: rank %d: %v", n, size, i, err)
						}
						if sent := m.Engine.FramesSent() - before; i != 0 && sent == 0 {
							t.Errorf("%d ranks, %d bytes, shared memory %t: rank %d sent nothing on", n, size, shared, i)
						}
						if err := m.Leave(); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
			}
		}
	}
}

// Ranks are killed at random while broadcasts of each scheme are under way.
func TestNamedBcastsSurvive(t *testing.T) {
	all, each := schemes(), 100
	if *bcasts > 4000 { // make soak
		each = *bcasts / len(all)
	}
	killed := 0
	for i, scheme := range all {
		if each == 100 && i%5 != 2 {
			continue
		}
		n := []int{4, 8, 5}[i%3]
		transport := []string{launcher.TransportSHM, launcher.TransportTCP}[i%2]
		k, _ := surviveJob(t, n, transport, scheme, i+1, each)
		killed += k
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("%d ranks killed", killed)
}
