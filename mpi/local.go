package mpi

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// LocalOption is an option of Local.
type LocalOption func(*join.LocalConfig)

// WithReplicas runs every rank as so many replicas.
func WithReplicas(degree int) LocalOption {
	return func(c *join.LocalConfig) { c.Replicas = degree }
}

// WithFaults has faults strike as "banyan run --fault" does, in the same language, so that tests
// can show what a program survives:
//
//	kill rank=2 at=send:5; kill rank=0 replica=1 at=20ms; flip rank=1 at=send:3; stop rank=3 at=1s
//
// A rank that is killed returns from no call of this package: its goroutines end there, and their
// deferred calls run. What it doesn't call this package for, it computes to the end. Local doesn't
// report an error of it. A rank that is stopped is held for dead after the second of silence that a
// process has, and is killed when all others have ended.
//
// A goroutine may be killed while it waits for one of its own that has ended so. Local gives such a
// one up after a second.
func WithFaults(plan string) LocalOption {
	return func(c *join.LocalConfig) { c.Faults = plan }
}

// Local runs n ranks as goroutines of this process and waits for them: for tests, examples and
// small machines. It returns the errors of the ranks, joined. A rank that returns an error is lost
// to the others: those that wait for it get ErrProcFailed.
func Local(n int, run func(world *Comm) error, options ...LocalOption) error {
	cfg := join.LocalConfig{Ranks: n, Replicas: 1, TypeName: names.nameOf}
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
	ranks := make([]*localRank, len(members))
	for i, m := range members {
		ranks[i] = &localRank{m: m, ended: make(chan struct{})}
		go ranks[i].run(run)
	}
	return waitLocal(ranks)
}

// localRank is one replica of a rank.
type localRank struct {
	m     *join.Member
	ended chan struct{}
	mu    sync.Mutex
	err   error
}

// run runs the program.
func (r *localRank) run(program func(world *Comm) error) {
	defer close(r.ended) // also if the goroutine ends in a call, since it was killed
	m := r.m
	world, err := comm.World(m.Engine)
	if err == nil {
		err = program(&Comm{c: world, own: &own{abort: m.Abort, killed: m.Killed}})
	}
	if m.Killed() {
		return
	}
	if err != nil {
		r.fail(err)
		m.Die()
		return
	}
	r.fail(m.Leave())
}

func (r *localRank) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// killedPatience is how long the goroutine of a killed rank may take to end.
const killedPatience = time.Second

// waitLocal waits for all ranks, and returns their errors.
func waitLocal(ranks []*localRank) error {
	for _, r := range ranks {
		select {
		case <-r.ended:
		case <-r.m.Gone():
		}
	}
	for _, r := range ranks {
		r.m.Thaw()
	}
	over := time.NewTimer(killedPatience)
	defer over.Stop()
	var errs []error
	for _, r := range ranks {
		select {
		case <-r.ended:
		case <-over.C:
			over.Reset(0) // the others have had their time, too
		}
		if !r.m.Killed() {
			r.mu.Lock()
			errs = append(errs, r.err)
			r.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}
