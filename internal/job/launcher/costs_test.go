package launcher

import (
	"testing"
	"time"
)

func TestCosts(t *testing.T) {
	s := func(d time.Duration) *Seconds { return new(Seconds(d)) }
	snapshots := []SnapshotReport{{Held: *s(30 * time.Millisecond)}, {Held: *s(12_345 * time.Microsecond)}, {Held: *s(0)}}
	for _, tc := range []struct {
		report Report
		want   string
	}{
		{Report{}, "costs: no snapshot was taken, so nothing is measured: take them more often (--snapshot-every), or run the program for longer"},
		{Report{Snapshots: snapshots, Rollbacks: []RollbackReport{{}}},
			"costs: a snapshot held the ranks up for 12.3ms (median of 3); nothing went back to one: a kill shows what that takes (--fault); banyan plan replication --checkpoint 12.3ms"},
		{Report{Snapshots: snapshots[2:], Rollbacks: []RollbackReport{{Restored: s(1_234_567 * time.Microsecond)}, {}, {Restored: s(time.Second)}}},
			"costs: a snapshot held the ranks up for 1µs (median of 1); going back to one took 1.23s (median of 2); banyan plan replication --checkpoint 1µs --restart 1.23s"},
	} {
		if got := tc.report.Costs(); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}
