package main

import (
	"os"
	"testing"

	"banyan/examples/internal/jobtest"
	"banyan/internal/job/check"
	"banyan/internal/job/launcher"
	"banyan/internal/proto"
)

// The replicas of each rank make the same calls with the same data, in any order of the neighbours'
// values. "banyan check" tests that.
func TestSendDeterministic(t *testing.T) {
	const ranks = 4
	for seed := range uint64(2) {
		dir := t.TempDir()
		report := jobtest.Run(t, "", launcher.Config{
			Ranks: ranks, Replicas: 2, Args: []string{"-tolerance", "1e-2", "data/bcsstk16.mtx.gz"}, Env: check.Environment(dir, seed, check.Site{}), Stderr: os.Stderr,
		})
		if report.ExitCode != 0 {
			t.Fatalf("exit code %d, %s", report.ExitCode, report.Reason)
		}
		c := check.Compare(check.Job{Dir: dir, Ranks: ranks, Procs: func(r int) []proto.Proc {
			return []proto.Proc{proto.Proc(r), proto.Proc(ranks + r)}
		}})
		defer c.Close()
		if _, err := c.Advance(); err != nil {
			t.Fatal(err)
		}
		s, err := c.Summary()
		if err != nil || len(s.Found) > 0 || s.Payloads.Calls() > 0 || s.Calls < 200 {
			t.Errorf("seed %d: %d calls alike, %d differ in data, %v, %v", seed, s.Calls, s.Payloads.Calls(), s.Found, err)
		}
	}
}
