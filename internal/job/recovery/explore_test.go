package recovery

import (
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/testing/explore"
)

// TestExplore tries all orders of events in small jobs.
func TestExplore(t *testing.T) {
	for _, tc := range []struct {
		ranks, replicas int
		options
		long bool
	}{
		{1, 2, options{seesOutput: true, faults: 2, ends: true}, false},
		{1, 2, options{seesOutput: true, faults: 3, safe: true}, false},
		{1, 2, options{seesOutput: true, faults: 2, ends: true, initialFailures: MaxFailures - 1}, false},
		{1, 2, options{faults: 2, ends: true}, false},
		{1, 2, options{faults: 3, safe: true}, false},
		{1, 3, options{seesOutput: true, faults: 2, safe: true, ends: true}, false},
		{1, 3, options{faults: 2, safe: true, ends: true}, false},
		{2, 2, options{seesOutput: true, faults: 2, safe: true, ends: true}, false},
		{2, 2, options{faults: 2, safe: true, ends: true}, false},
		{1, 2, options{seesOutput: true, faults: 3, safe: true, hangs: true}, false},
		{1, 2, options{faults: 2, safe: true, hangs: true}, false},
		{1, 2, options{seesOutput: true, faults: 1, leaves: 1, ends: true}, false},
		{1, 2, options{seesOutput: true, leaves: 2, ends: true}, false},
		{1, 3, options{seesOutput: true, leaves: 2, safe: true}, false},
		{2, 2, options{seesOutput: true, leaves: 2, safe: true}, false},
		{1, 2, options{seesOutput: true, faults: 1, leaves: 1, safe: true, initialFailures: MaxFailures - 1}, false},
		{1, 2, options{seesOutput: true, faults: 1, leaves: 3, ends: true}, true},
		{1, 3, options{seesOutput: true, faults: 1, leaves: 2, safe: true, ends: true}, true},
		{2, 2, options{seesOutput: true, faults: 1, leaves: 2, safe: true, ends: true}, true},
		{2, 2, options{seesOutput: true, faults: 2, safe: true, ends: true, most: 2}, false},
		{2, 2, options{faults: 2, safe: true, ends: true, most: 2}, false},
		{2, 2, options{seesOutput: true, faults: 1, leaves: 1, safe: true, most: 2}, false},
		{2, 2, options{seesOutput: true, faults: 1, safe: true, most: 2, dead: 2}, false},
		{3, 2, options{seesOutput: true, safe: true, ends: true, most: 2, dead: 3}, false},
		{1, 2, options{seesOutput: true, faults: 1, safe: true, ends: true, leaders: 1}, false},
		{1, 2, options{seesOutput: true, faults: 1, safe: true, leaders: 2}, false},
		{1, 3, options{seesOutput: true, faults: 1, safe: true, leaders: 1}, false},
		{2, 2, options{seesOutput: true, safe: true, most: 2, dead: 2, leaders: 1}, false},
		{1, 2, options{seesOutput: true, faults: 2, safe: true, hangs: true, ends: true, leaders: 1}, true},
		{1, 3, options{seesOutput: true, faults: 2, safe: true, ends: true, leaders: 1}, true},
		{2, 2, options{seesOutput: true, safe: true, ends: true, most: 2, dead: 2, leaders: 1}, true},
		{2, 2, options{seesOutput: true, faults: 1, safe: true, ends: true, most: 2, dead: 2}, true},
		{2, 2, options{faults: 2, safe: true, most: 2, dead: 2}, true},
		{3, 2, options{seesOutput: true, faults: 1, safe: true, most: 2, dead: 3}, true},
	} {
		if tc.long && !explore.Long() {
			continue
		}
		t.Run(fmt.Sprintf("%d×%d %+v", tc.ranks, tc.replicas, tc.options), func(t *testing.T) {
			stats, err := explore.All(newWorld(layout.Uniform(tc.ranks, tc.replicas), tc.options), 1e7)
			t.Logf("%d states, %d ends, depth %d", stats.States, stats.Ends, stats.Depth)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
