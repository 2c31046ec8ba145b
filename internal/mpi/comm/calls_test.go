package comm

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"banyan/internal/job/join"
	"banyan/internal/runtime/engine"
)

// heard is what a rank's program was heard to call.
type heard struct {
	mu    sync.Mutex
	calls []string
}

func (h *heard) Calls(c *engine.Call) {
	bytes := c.Takes
	for _, p := range c.Parts {
		bytes += len(p)
	}
	h.note(fmt.Sprintf("%s %d peer %d tag %d", c.Op, bytes, c.Peer, c.Tag))
}

func (h *heard) Receives(r *engine.Receipt) {
	h.note(fmt.Sprintf("from %d tag %d any %v %v", r.Source, r.Tag, r.AnySource, r.AnyTag))
}

func (h *heard) note(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, s)
}

// Each call of the program is told once, and the messages inside its collectives aren't.
func TestCallsAreTold(t *testing.T) {
	members, err := join.Local(join.LocalConfig{Ranks: 3, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	listeners := make([]heard, 3)
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			c, err := World(m.Engine)
			if err != nil {
				t.Error(err)
				return
			}
			c.calls = &listeners[i]
			must := func(err error) {
				if err != nil {
					t.Error(err)
				}
			}
			rank := c.Rank()
			switch rank {
			case 0:
				_, err := c.Recv(make([]byte, 8), AnySource, AnyTag)
				must(err)
				_, err = c.Recv(nil, 1, 9)
				must(err)
			case 1:
				must(c.Send(make([]byte, 1), 0, 7))
				must(c.Ssend(nil, 0, 9))
			}
			must(c.Barrier().Run())
			must(c.Bcast(make([]byte, 5), 1).Run())
			must(c.Scatter(make([]byte, 12*truth(rank == 2)), make([]byte, 4), 2).Run())
			o, err := c.Allgather(make([]byte, 3), make([]byte, 9)).Start()
			must(err)
			must(o.Wait())
			must(m.Leave())
		})
	}
	wg.Wait()
	last := []string{"Barrier 0 peer -1 tag 0", "Bcast 5 peer 1 tag 0", "Scatter 4 peer 2 tag 0", "Allgather 3 peer -1 tag 0"}
	scattered := slices.Clone(last)
	scattered[2] = "Scatter 12 peer 2 tag 0" // what the root gives
	for rank, want := range [][]string{
		append([]string{"from 1 tag 7 any true true", "from 1 tag 9 any false false"}, last...),
		append([]string{"Send 1 peer 0 tag 7", "Ssend 0 peer 0 tag 9"}, last...),
		scattered,
	} {
		if got := listeners[rank].calls; !slices.Equal(got, want) {
			t.Errorf("rank %d called\n%q\nwant\n%q", rank, got, want)
		}
	}
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}
