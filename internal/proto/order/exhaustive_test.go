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
	// serves: rank 0 serves whichever of two others comes first.
	serves = [][]op{{receive, send(1), receive, send(2)}, {send(0), receive}, {send(0), receive}}
)

// worlds are jobs that are explored whole.
var worlds = []struct {
	name  string
	setup setup
	long  bool // takes so long that only make soak visits it
}{
	{"2 ranks of 2", setup{programs: asks, degrees: []int{2, 2}, deaths: 1}, false},
	{"a rank of 2, suspicions, healing", setup{programs: tests, degrees: []int{2, 1}, deaths: 2, suspects: true, heals: 1}, false},
	{"a rank of 3", setup{programs: once, degrees: []int{3, 1}, deaths: 2}, false},
	{"3 ranks, a server of 2", setup{programs: serves, degrees: []int{2, 1, 1}, deaths: 1, heals: 1}, false},

	{"2 ranks of 2, suspicions", setup{programs: asks, degrees: []int{2, 2}, deaths: 2, suspects: true}, true},
	{"2 ranks of 3", setup{programs: [][]op{{test, send(1), receive}, {test, send(0)}}, degrees: []int{3, 3}, deaths: 2}, true},
	{"a rank of 3, suspicions, healing", setup{programs: tests, degrees: []int{3, 1}, deaths: 2, suspects: true, heals: 1}, true},
	{"3 ranks of 2", setup{programs: serves, degrees: []int{2, 2, 2}, deaths: 2, heals: 1}, true},
}

// TestExhaustive visits every state of small jobs.
func TestExhaustive(t *testing.T) {
	for i := range worlds {
		c := &worlds[i]
		t.Run(c.name, func(t *testing.T) {
			if c.long && !explore.Long() {
				t.Skip("takes minutes: make soak runs it")
			}
			stats, err := explore.All[*world, event](newWorld(&c.setup), 40_000_000)
			t.Logf("%+v", stats)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
