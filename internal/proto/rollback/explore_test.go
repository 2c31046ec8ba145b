package rollback

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

// TestExhaustive tries all orders of events in small jobs. Of those with replicas an ordinary run
// visits the first 20,000 states.
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
		// With replicas: the last one of a rank, both at once, and one that is masked.
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, deaths: 1}, true},
		{options{ranks: 2, hosts: 2, replicas: []int{2, 1}, steps: 2, snapshots: 1, hostDeaths: 1}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, deaths: 1, replacements: 1}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, deaths: 2}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 2}, steps: 2, snapshots: 1, deaths: 1}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 3, snapshots: 1, deaths: 1, queued: true}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, deaths: 2, replacements: 1}, true},
		// In leader order, of one replica each to have few states, and of two.
		{options{ranks: 2, hosts: 1, led: true, choices: 1, steps: 2, snapshots: 1, deaths: 1}, false},
		{options{ranks: 2, hosts: 1, led: true, steps: 2, snapshots: 1, deaths: 1, limits: 1}, false},
		{options{ranks: 2, hosts: 1, led: true, steps: 3, snapshots: 1, deaths: 1, limits: 1}, true},
		{options{ranks: 2, hosts: 2, led: true, steps: 2, snapshots: 1, hostDeaths: 1}, false},
		{options{ranks: 2, hosts: 2, led: true, steps: 2, snapshots: 1, hostDeaths: 1, queued: true}, true},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, led: true, steps: 2, snapshots: 1, deaths: 1}, true},
		// A live one is taken for dead.
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, suspicions: 1}, false},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, suspicions: 1}, true},
	} {
		most := int(1e8)
		if tc.long && !explore.Long() {
			if most = 20_000; tc.replicas == nil {
				continue
			}
		}
		t.Run(fmt.Sprintf("%+v", tc.options), func(t *testing.T) {
			stats, err := explore.All(newWorld(tc.options), most)
			t.Logf("%d states, %d ends, depth %d", stats.States, stats.Ends, stats.Depth)
			if err != nil && (explore.Long() || !errors.Is(err, explore.ErrLimit)) {
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
		o.suspicions, o.led = n/2%3, n%7 < 3
		o.choices = n % 2
		if n%5 > 1 {
			for r := range o.ranks {
				o.replicas = append(o.replicas, 1+(n/5+r)%(2+n%2))
			}
			o.replacements, o.deaths = n/3%3, o.deaths+2
		}
		if err := explore.Random(newWorld(o), seed, 5000); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	}
}
