package launcher

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Costs says what the job's snapshots and rollbacks have cost, in words and as the arguments of
// banyan plan replication. A checkpoint counts from when the first rank stands until all go on;
// a restart counts from the death until all go on from the snapshot.
func (r *Report) Costs() string {
	var snapshots, restarts []Seconds
	for _, s := range r.Snapshots {
		snapshots = append(snapshots, s.Held)
	}
	for _, b := range r.Rollbacks {
		if b.Restored != nil {
			restarts = append(restarts, *b.Restored)
		}
	}
	if len(snapshots) == 0 {
		return "costs: no snapshot was taken, so nothing is measured: take them more often (--snapshot-every), or run the program for longer"
	}
	c := rounded(median(snapshots))
	said := []string{fmt.Sprintf("costs: a snapshot held the ranks up for %v (median of %d)", c, len(snapshots))}
	plan := fmt.Sprintf("banyan plan replication --checkpoint %v", c)
	if len(restarts) > 0 {
		back := rounded(median(restarts))
		said = append(said, fmt.Sprintf("going back to one took %v (median of %d)", back, len(restarts)))
		plan += fmt.Sprintf(" --restart %v", back)
	} else {
		said = append(said, "nothing went back to one: a kill shows what that takes (--fault)")
	}
	return strings.Join(append(said, plan), "; ")
}

// median is the middle one of some times, at least one.
func median(all []Seconds) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return time.Duration(sorted[len(sorted)/2])
}

// rounded leaves three digits or so.
func rounded(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d >= 1000*unit {
		unit *= 10
	}
	return max(d.Round(unit), time.Microsecond)
}
