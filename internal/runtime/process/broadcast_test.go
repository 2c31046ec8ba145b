package process

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// casts is a program: a number of broadcasts from changing roots, of changing
// sizes, several at a time.
type casts struct {
	rank, ranks int
	total       int
	roots       []int // taken in turn
	at          int
	open        []posted
	outcome     []error // of each broadcast
	err         error   // set where a broadcast brought wrong data
}

func (c *casts) root(i int) int { return c.roots[i%len(c.roots)] }

func castSize(i int) int { return []int{0, 1, 100, 3000, 9000, SegmentLimit}[i%6] }

func (c *casts) step(p *Process) bool {
	for len(c.open) > 0 && p.Done(c.open[0].h) {
		o := c.open[0]
		c.open = c.open[1:]
		i := len(c.outcome)
		_, err := p.Take(o.h)
		c.outcome = append(c.outcome, err)
		if err == nil {
			for j, b := range o.buffer {
				if b != byte(i+j+c.root(i)) {
					c.err = fmt.Errorf("rank %d: byte %d of broadcast %d is %d", c.rank, j, i, b)
					break
				}
			}
		}
	}
	if c.at < c.total && len(c.open) < 3 {
		i := c.at
		c.at++
		b := make([]byte, castSize(i))
		if c.root(i) == c.rank {
			for j := range b {
				b[j] = byte(i + j + c.rank)
			}
		}
		c.open = append(c.open, posted{h: p.Broadcast(3, c.root(i), Shape(i%2), b), buffer: b})
	}
	return c.at == c.total && len(c.open) == 0
}

func runCasts(t *testing.T, seed uint64, ranks, total, crashes int, roots []int, victim func(w *testJob) proto.Proc) (*testJob, []*casts) {
	programs := make([]*casts, ranks)
	w := newTestJob(t, seed, layout.Uniform(ranks, 1), func(r proto.Rank, _ int) program {
		programs[r] = &casts{rank: int(r), ranks: ranks, total: total, roots: roots}
		return programs[r]
	})
	w.run(crashes, func() proto.Proc { return victim(w) })
	for _, n := range w.nodes {
		c := programs[n.self]
		if n.dead {
			continue
		}
		if c.err != nil {
			t.Errorf("seed %d: %v", seed, c.err)
		}
		n.checkEmpty(t, seed)
	}
	return w, programs
}

// Any process but the roots may die at any time: every live process gets every broadcast.
func TestBroadcastsSurviveCrashes(t *testing.T) {
	for _, c := range []struct{ ranks, crashes int }{{2, 0}, {2, 1}, {5, 2}, {8, 3}, {13, 4}} {
		t.Run(fmt.Sprintf("%d/%d", c.ranks, c.crashes), func(t *testing.T) {
			seeds(t, func(t *testing.T, seed uint64) {
				roots := []int{0}
				if c.ranks > 4 {
					roots = []int{0, 0, 1, 0}
				}
				w, programs := runCasts(t, seed, c.ranks, 40, c.crashes, roots, func(w *testJob) proto.Proc {
					safe := len(roots) / 2 // ranks below it aren't killed
					return proto.Proc(max(1, safe) + w.rng.IntN(c.ranks-max(1, safe)))
				})
				for _, n := range w.nodes {
					if n.dead {
						continue
					}
					for i, err := range programs[n.self].outcome {
						if err != nil {
							t.Errorf("seed %d: rank %d, broadcast %d: %v", seed, n.self, i, err)
						}
					}
				}
			})
		})
	}
}

// A root dies: each of its broadcasts reaches all live processes, or fails at all of them with
// an error that names the root.
func TestBroadcastOfADeadRootIsAllOrNothing(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		const ranks = 6
		w, programs := runCasts(t, seed, ranks, 30, 2, []int{1, 0, 2}, func(w *testJob) proto.Proc {
			return proto.Proc(1 + w.rng.IntN(2)) // 1 or 2
		})
		for i := range 30 {
			var first error
			seen := false
			for _, n := range w.nodes {
				if n.dead || len(programs[n.self].outcome) <= i {
					continue
				}
				err := programs[n.self].outcome[i]
				if err != nil && !errors.Is(err, ErrRankLost) {
					t.Errorf("seed %d: broadcast %d: %v", seed, i, err)
				}
				if seen && (err == nil) != (first == nil) {
					t.Errorf("seed %d: broadcast %d: %v at one, %v at rank %d", seed, i, first, err, n.self)
				}
				first, seen = err, true
			}
		}
	})
}
