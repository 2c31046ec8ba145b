package rollback

import (
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

// TestExhaustive tries all orders of events in small jobs.
func TestExhaustive(t *testing.T) {
	for _, tc := range []struct {
		options
		long bool
	}{
		{options{ranks: 2, hosts: 2, steps: 2, snapshots: 1, hostDeaths: 1}, false},
		{options{ranks: 2, hosts: 2, steps: 2, snapshots: 1, hostDeaths: 1, disk: 1}, false},
		{options{ranks: 2, hosts: 2, steps: 3, snapshots: 2, hostDeaths: 1, disk: 2}, true},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, deaths: 1, limits: 1}, false},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, deaths: 1, queued: true}, false},
		{options{ranks: 3, hosts: 1, steps: 2, snapshots: 1, deaths: 1}, false},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, deaths: 2, limits: 1}, true},
		{options{ranks: 2, hosts: 2, steps: 3, snapshots: 2, deaths: 2, limits: 1}, true},
		{options{ranks: 2, hosts: 3, steps: 2, snapshots: 2, deaths: 1, hostDeaths: 2}, true},
		{options{ranks: 2, hosts: 3, steps: 2, snapshots: 1, hostDeaths: 3, disk: 1}, true},
		{options{ranks: 2, hosts: 2, steps: 3, snapshots: 2, deaths: 1, queued: true}, true},
		{options{ranks: 3, hosts: 3, steps: 2, snapshots: 1, hostDeaths: 1}, true},
		{options{ranks: 3, hosts: 2, steps: 2, snapshots: 1, deaths: 2}, true},
		{options{ranks: 4, hosts: 1, steps: 2, snapshots: 1, deaths: 1}, true},
	} {
		if tc.long && !explore.Long() {
			continue
		}
		t.Run(fmt.Sprintf("%+v", tc.options), func(t *testing.T) {
			stats, err := explore.All(newWorld(tc.options), 1e8)
			t.Logf("%d states, %d ends, depth %d", stats.States, stats.Ends, stats.Depth)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestRandom tries larger jobs with more deaths, at random.
func TestRandom(t *testing.T) {
	seeds := uint64(300)
	if explore.Long() {
		seeds = 200_000
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		n := int(seed)
		o := options{ranks: 3 + n%3, hosts: 1 + n%4, steps: 4, snapshots: 4, deaths: n % 4, hostDeaths: n / 4 % 3, limits: n % 2, disk: uint64(n % 5 / 3 * (1 + n%3)), queued: n%2 == 0}
		if err := explore.Random(newWorld(o), seed, 5000); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	}
}
