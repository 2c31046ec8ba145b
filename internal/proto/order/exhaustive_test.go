package order

import (
	"testing"

	"banyan/internal/testing/explore"
)

// Programs of the worlds, by what their ranks do.
var (
	tests = [][]op{{test, send(1), test, send(1)}, {send(0)}}
	once  = [][]op{{test, send(1)}, {send(0)}}
	// asks: both ranks decide, and each one's decisions reach the other.
	asks = [][]op{{test, send(1), receive, send(1)}, {send(0), test, send(0)}}
	// pings: as asks, once.
	pings = [][]op{{test, send(1), receive}, {test, send(0)}}
	// each rank decides once, and tells the other.
	each = [][]op{{test, send(1)}, {test, send(0)}}
	// serves: rank 0 serves whichever of two others comes first.
	serves = [][]op{{receive, send(1), receive, send(2)}, {send(0), receive}, {send(0), receive}}
)

// size says how a job is explored.
type size int

const (
	small size = iota // whole
	large             // whole by make soak, since it takes minutes, and at random
	huge              // at random only: it wasn't seen to end
)

// worlds are jobs that are explored.
var worlds = []struct {
	name  string
	setup setup
	size  size
}{
	{"2 ranks of 2", setup{programs: asks, degrees: []int{2, 2}, deaths: 1}, small},
	{"a rank of 2, suspicions, healing", setup{programs: tests, degrees: []int{2, 1}, deaths: 2, suspects: true, heals: 1}, small},
	{"a rank of 3", setup{programs: once, degrees: []int{3, 1}, deaths: 2}, small},
	{"3 ranks, a server of 2", setup{programs: serves, degrees: []int{2, 1, 1}, deaths: 1, heals: 1}, small},

	{"2 ranks of 2, kept", setup{programs: asks, degrees: []int{2, 2}, deaths: 1, keeps: keepsAll}, small},
	{"a rank of 2, kept, suspicions, healing", setup{programs: tests, degrees: []int{2, 1}, deaths: 2, suspects: true, heals: 1, keeps: keepsFull}, small},
	{"a rank of 3, kept", setup{programs: once, degrees: []int{3, 1}, deaths: 2, keeps: keepsAll}, small},
	{"3 ranks, a server of 2, kept", setup{programs: serves, degrees: []int{2, 1, 1}, deaths: 1, heals: 1, keeps: keepsAll}, small},

	{"2 ranks of 2, healing", setup{programs: asks, degrees: []int{2, 2}, deaths: 2, heals: 1}, large},
	{"2 ranks of 2 and 3, a death", setup{programs: pings, degrees: []int{3, 2}, deaths: 1}, large},
	{"2 ranks of 3, a death", setup{programs: each, degrees: []int{3, 3}, deaths: 1}, large},
	{"a rank of 3, suspicions", setup{programs: once, degrees: []int{3, 1}, deaths: 2, suspects: true}, large},
	{"a rank of 3, two of them kept, suspicions", setup{programs: once, degrees: []int{3, 1}, deaths: 2, suspects: true, keeps: keepsSome}, large},
	{"2 ranks of 2, kept or not", setup{programs: asks, degrees: []int{2, 2}, deaths: 1, keeps: keepsFull}, large},
	{"2 ranks of 2, kept, healing", setup{programs: asks, degrees: []int{2, 2}, deaths: 2, heals: 1, keeps: keepsFull}, large},
	{"2 ranks of 2, kept, suspicions", setup{programs: asks, degrees: []int{2, 2}, deaths: 2, suspects: true, keeps: keepsAll}, large},
	{"2 ranks of 2 and 3, kept, a death", setup{programs: pings, degrees: []int{3, 2}, deaths: 1, keeps: keepsAll}, large},
	{"a rank of 3, kept, suspicions", setup{programs: once, degrees: []int{3, 1}, deaths: 2, suspects: true, keeps: keepsAll}, large},
	{"a rank of 3, kept, suspicions, healing", setup{programs: tests, degrees: []int{3, 1}, deaths: 2, suspects: true, heals: 1, keeps: keepsFull}, huge},
	{"2 ranks of 3, kept, healing", setup{programs: asks, degrees: []int{3, 3}, deaths: 4, suspects: true, heals: 2, keeps: keepsSome}, huge},
	{"2 ranks of 2, healing twice", setup{programs: asks, degrees: []int{2, 2}, deaths: 3, suspects: true, heals: 2}, huge},
	{"2 ranks of 2 and 3, healing", setup{programs: pings, degrees: []int{3, 2}, deaths: 2, heals: 1}, huge},
	{"2 ranks of 3, healing", setup{programs: asks, degrees: []int{3, 3}, deaths: 4, suspects: true, heals: 2}, huge},
	{"2 ranks of 2, suspicions", setup{programs: asks, degrees: []int{2, 2}, deaths: 2, suspects: true}, large},
	{"2 ranks of 3", setup{programs: pings, degrees: []int{3, 3}, deaths: 2}, huge},
	{"a rank of 3, suspicions, healing", setup{programs: tests, degrees: []int{3, 1}, deaths: 2, suspects: true, heals: 1}, huge},
	{"3 ranks of 2", setup{programs: serves, degrees: []int{2, 2, 2}, deaths: 2, heals: 1}, huge},
}

// TestExhaustive visits every state of small jobs.
func TestExhaustive(t *testing.T) {
	for i := range worlds {
		c := &worlds[i]
		t.Run(c.name, func(t *testing.T) {
			if c.size == huge || c.size == large && !explore.Long() {
				t.Skip("too large: TestRandom walks through it")
			}
			stats, err := explore.All[*world, event](newWorld(&c.setup), 40_000_000)
			t.Logf("%+v", stats)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
