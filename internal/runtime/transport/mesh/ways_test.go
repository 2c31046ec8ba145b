package mesh

import (
	"math/rand/v2"
	"testing"
)

// simulate has so many pieces of 1 MiB come, each in the time that cost says. It returns how many
// came each way, how often the way changed, and their time as a part of that of the better way.
func (w *ways) simulate(n int, cost func(by way, row int) int64) (by [2]int, changes int, slower float64) {
	var took, best int64
	for last := w.last; n > 0; n-- {
		c := w.choose()
		if c != last {
			changes, last = changes+1, c
		}
		by[c]++
		ns := cost(c, w.row)
		w.took(c, 1<<20, ns)
		took += ns
		best += min(cost(wayRead, wayRow), cost(wayRing, wayRow))
	}
	return by, changes, float64(took) / float64(best)
}

// The faster way is taken, although the first times after a change of ways are slow, and although
// some times are those of a process that has lost its core.
func TestWays(t *testing.T) {
	for _, c := range []struct {
		name string
		cost [2]int64
		late int // one in so many takes a hundred times as long; 0: none
	}{
		{"reading", [2]int64{60_000, 130_000}, 0},
		{"the ring", [2]int64{200_000, 50_000}, 0},
		{"reading, with noise", [2]int64{60_000, 130_000}, 50},
		{"the ring, with noise", [2]int64{200_000, 50_000}, 50},
	} {
		var w ways
		rng := rand.New(rand.NewPCG(1, 2))
		cost := func(by way, row int) int64 {
			ns := c.cost[by]
			if row <= waySettle {
				ns *= 2
			}
			return ns
		}
		noisy := func(by way, row int) int64 {
			ns := cost(by, row)
			if c.late > 0 && row < wayRow && rng.IntN(c.late) == 0 {
				return 100 * ns
			}
			return ns
		}
		better := wayRead
		if c.cost[wayRing] < c.cost[wayRead] {
			better = wayRing
		}
		by, _, slower := w.simulate(5000, noisy)
		if by[better] < 4700 || c.late == 0 && slower > 1.1 {
			t.Errorf("%s: %d of 5000 came the faster way, in %.2f of its time", c.name, by[better], slower)
		}
		// The two change places.
		c.cost[0], c.cost[1] = c.cost[1], c.cost[0]
		if by, _, _ := w.simulate(3000, cost); by[1-better] < 1800 {
			t.Errorf("%s: after a change %d of 3000 came the way that is faster now", c.name, by[1-better])
		}
	}
}

// Ways that are equally fast don't alternate for ever.
func TestEqualWays(t *testing.T) {
	var w ways
	_, changes, _ := w.simulate(5000, func(way, int) int64 { return 100_000 })
	if changes > 60 {
		t.Errorf("%d changes of the way in 5000", changes)
	}
}
