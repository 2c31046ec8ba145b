package order

import (
	"testing"

	"banyan/internal/testing/explore"
)

// TestRandom walks through the larger jobs at random. BANYAN_EXPLORE=long walks more.
func TestRandom(t *testing.T) {
	seeds := uint64(300)
	if explore.Long() {
		seeds = 100_000
	}
	for i := range worlds {
		c := &worlds[i]
		if c.size == small {
			continue
		}
		for seed := uint64(1); seed <= seeds; seed++ {
			if err := explore.Random[*world, event](newWorld(&c.setup), seed, 2_000); err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
		}
	}
}
