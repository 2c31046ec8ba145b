// Package jointest runs the jobs of goroutines that tests of MPI's operations need.
//
// Invariants: each process of the job leaves it or dies, so that no other waits for it; a job that
// hangs ends the test's program, with all stacks.
package jointest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/join"
)

// ErrDies is what a process returns that dies on purpose: its test doesn't fail for it.
var ErrDies = errors.New("dies on purpose")

// Limit is how long a job may take.
const Limit = 2 * time.Minute

// Run runs a job of goroutines: run at each process, of which number i is replica i / Ranks of rank
// i % Ranks. A process whose run returns an error dies, and the others hear of it as of a death.
// Any error but ErrDies fails the test.
func Run(t *testing.T, cfg join.LocalConfig, run func(i int, m *join.Member) error) {
	t.Helper()
	for i, err := range Errors(t, cfg, Limit, run) {
		if err != nil && !errors.Is(err, ErrDies) {
			t.Fatalf("process %d of a job of %d ranks and %d replicas: %v", i, cfg.Ranks, cfg.Replicas, err)
		}
	}
}

// Errors runs a job as Run does, within a limit of the test's own. It returns what each process
// ended with: what run returned, or what leaving the job did.
func Errors(t *testing.T, cfg join.LocalConfig, limit time.Duration, run func(i int, m *join.Member) error) []error {
	t.Helper()
	members, err := join.Local(cfg)
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			err := run(i, m)
			if err == nil {
				err = m.Leave()
			} else {
				m.Die()
			}
			errs[i] = err
		})
	}
	hang := time.AfterFunc(limit, func() { panic("the job hangs") })
	all.Wait()
	hang.Stop()
	return errs
}
