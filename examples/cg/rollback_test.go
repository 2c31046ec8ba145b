package main

import (
	"fmt"
	"testing"
	"time"

	"banyan/examples/internal/jobtest"
	"banyan/internal/job/launcher"
)

// TestRollback kills processes of jobs without replicas at random. The output is that of the
// undisturbed job.
func TestRollback(t *testing.T) {
	args := []string{"-every", "50", "-solves", "20", "data/bcsstk16.mtx.gz"}
	undisturbed := map[int]string{}
	var took time.Duration // the shorter of the two
	for _, n := range []int{2, 3} {
		start := time.Now()
		r := jobtest.Run(t, "", launcher.Config{Ranks: n, Replicas: 1, Args: args})
		if r.ExitCode != 0 {
			t.Fatalf("%d ranks undisturbed: exit code %d\n%s", n, r.ExitCode, r.Stderr)
		}
		if d := time.Since(start); took == 0 || d < took {
			took = d
		}
		undisturbed[n] = r.Stdout
	}
	plans := 6 // make soak tries many more
	if testing.Short() {
		plans = 2
	}
	begin, back, tried := time.Now(), 0, 0
	for seed := 1; seed <= plans || time.Since(begin) < *soak; seed++ {
		n := 2 + seed%2
		// A job takes longer on a loaded machine, and its faults come later.
		at := func(thousandths int) time.Duration {
			return (max(time.Second, took) * time.Duration(thousandths) / 1000).Truncate(time.Millisecond)
		}
		faults := fmt.Sprintf("kill rank=%d at=%v; kill rank=%d at=%v; kill rank=%d at=%v",
			seed%n, at(300+seed*37%400), seed/2%n, at(600+seed*61%600), seed/3%n, at(600+seed*61%600+seed%50))
		config := launcher.Config{Ranks: n, Replicas: 1, Args: args, Rollback: true, SnapshotEvery: 50 * time.Millisecond}
		r := jobtest.Run(t, faults, config)
		tried++
		for _, x := range r.Rollbacks {
			if x.Snapshot > 0 {
				back++
				break
			}
		}
		if r.ExitCode != 0 || r.Stdout != undisturbed[n] || len(r.Warnings) > 0 {
			t.Errorf("%s --rollback --snapshot-every 50ms\nexit code %d, %v\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				jobtest.Command(faults, config), r.ExitCode, r.Warnings, r.Stderr, r.Stdout, undisturbed[n])
		}
	}
	t.Logf("%d of %d jobs went back to a snapshot", back, tried)
	if back < tried/2 {
		t.Error("most jobs end before their faults")
	}
}
