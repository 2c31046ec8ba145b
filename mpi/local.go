package mpi

import (
	"errors"
	"fmt"
	"sync"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// LocalOption is an option of Local.
type LocalOption func(*join.LocalConfig)

// WithReplicas runs every rank as so many replicas.
func WithReplicas(degree int) LocalOption {
	return func(c *join.LocalConfig) { c.Replicas = degree }
}

// Local runs n ranks as goroutines of this process and waits for them: for tests, examples and
// small machines. It returns the errors of the ranks, joined. A rank that returns an error is lost
// to the others: those that wait for it get ErrProcFailed.
func Local(n int, run func(world *Comm) error, options ...LocalOption) error {
	cfg := join.LocalConfig{Ranks: n, Replicas: 1}
	for _, set := range options {
		set(&cfg)
	}
	if cfg.Ranks < 1 || cfg.Replicas < 1 {
		return fmt.Errorf("mpi: Local: %d ranks of %d replicas: both must be 1 or more", cfg.Ranks, cfg.Replicas)
	}
	members, err := join.Local(cfg)
	if err != nil {
		return fmt.Errorf("mpi: Local: %w", err)
	}
	errs := make([]error, len(members))
	var wg sync.WaitGroup
	for i, m := range members {
		wg.Go(func() {
			world, err := comm.World(m.Engine)
			if err == nil {
				err = run(&Comm{world, m.Abort})
			}
			if err != nil {
				errs[i] = err
				m.Die()
				return
			}
			errs[i] = m.Leave()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
