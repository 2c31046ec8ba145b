package order

import (
	"flag"
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

var pieces = flag.Bool("pieces", false, "have TestPieces run the jobs, too, that take hours")

// TestPieces visits every state of jobs of two and three replicas with two deaths, in pieces: each
// has two processes that may die. Together they have all that can happen. BANYAN_EXPLORE=long has
// it run.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup setup
		hours bool
	}{
		{"2 ranks of 3 and 2", setup{programs: each, degrees: []int{3, 2}, deaths: 2}, false},
		{"2 ranks of 2 and 3", setup{programs: pings, degrees: []int{2, 3}, deaths: 2}, false},
		{"2 ranks of 3", setup{programs: each, degrees: []int{3, 3}, deaths: 2}, true},
		{"2 ranks of 3 and 2, healing", setup{programs: each, degrees: []int{3, 2}, deaths: 2, heals: 1}, true},
	} {
		if !explore.Long() || c.hours && !*pieces {
			continue
		}
		n := 0
		for _, d := range c.setup.degrees {
			n += d
		}
		for p := range n {
			for q := range p {
				t.Run(fmt.Sprintf("%s/%d and %d", c.name, q, p), func(t *testing.T) {
					s := c.setup
					s.mortal = []int{q, p}
					stats, err := explore.All[*world, event](newWorld(&s), 150_000_000)
					t.Logf("%+v", stats)
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
