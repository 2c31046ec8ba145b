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

// TestReplicasRollBack kills replicas at random in jobs that also go back: one of them, which is
// masked, and is replaced in half of the jobs; all of a rank, at once or one after the other, which
// takes the job back. The output is that of the undisturbed job.
func TestReplicasRollBack(t *testing.T) {
	args := []string{"-every", "50", "-solves", "20", "data/bcsstk16.mtx.gz"}
	start := time.Now()
	calm := jobtest.Run(t, "", launcher.Config{Ranks: 2, Replicas: 2, Args: args})
	if calm.ExitCode != 0 {
		t.Fatalf("undisturbed: exit code %d\n%s", calm.ExitCode, calm.Stderr)
	}
	took := max(time.Second, time.Since(start))
	plans := 2 // make soak tries many more
	begin, back, masked, healed, tried := time.Now(), 0, 0, 0, 0
	for seed := 1; seed <= plans || time.Since(begin) < *soak; seed++ {
		at := func(thousandths int) time.Duration {
			return (took * time.Duration(thousandths) / 1000).Truncate(time.Millisecond)
		}
		lost, first := seed%2, at(350+seed*37%300)
		faults := fmt.Sprintf("kill rank=%d replica=%d at=%v; kill rank=%d replica=0 at=%v; kill rank=%d replica=1 at=%v",
			1-lost, seed/2%2, at(200+seed*53%300), lost, first, lost, first+[]time.Duration{0, 3, 20, 100}[seed/2%4]*time.Millisecond)
		config := launcher.Config{Ranks: 2, Replicas: 2, Args: args, Rollback: true, SnapshotEvery: 50 * time.Millisecond, Heal: seed/2%2 == 1, Verify: seed%3 != 1}
		r := jobtest.Run(t, faults, config)
		tried++
		for _, x := range r.Rollbacks {
			if x.Snapshot > 0 {
				back++
				break
			}
		}
		healed += len(r.Heals)
		for _, d := range r.Deaths {
			if d.Substitute != nil {
				masked++
			}
		}
		if r.ExitCode != 0 || r.Stdout != calm.Stdout || len(r.Warnings) > 0 {
			t.Errorf("%s --rollback --snapshot-every 50ms\nexit code %d, %v\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				jobtest.Command(faults, config), r.ExitCode, r.Warnings, r.Stderr, r.Stdout, calm.Stdout)
		}
	}
	t.Logf("%d of %d jobs went back to a snapshot; %d deaths were masked, %d slots filled again", back, tried, masked, healed)
	if back == 0 && tried > 2 || masked == 0 {
		t.Error("most jobs end before their faults")
	}
}
