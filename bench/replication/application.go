package replication

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/bench/peers"
)

// Application is a program to run.
type Application struct {
	Name    string
	Command []string
	// Varies says that its output may differ from run to run. It may print times, and may sum
	// them up over its ranks, so it isn't run in the setting Verified.
	Varies bool
}

// Applications returns those of the project, in a directory of programs: a solver by conjugate
// gradients, for a matrix, and one by multigrid; each receives by name, or from any source.
func Applications(bin func(string) string, matrix string) []Application {
	cg, multigrid := bin("cg"), bin("multigrid")
	return []Application{
		{Name: "cg", Command: []string{cg, "-any-source=false", "-solves", "25", matrix}},
		{Name: "cg, any source", Command: []string{cg, "-any-source=true", "-solves", "25", matrix}},
		{Name: "multigrid", Command: []string{multigrid, "-any-source=false", "-solves", "8"}},
		{Name: "multigrid, any source", Command: []string{multigrid, "-any-source=true", "-solves", "8"}},
	}
}

// Run is what was measured of an application.
type Run struct {
	Name            string
	Ranks, Replicas int
	// Elapsed is the time from the start to the end of all. CPU is the time that all processes
	// have taken, the launchers too, in user mode and in the kernel. Where all cores are busy the
	// two are much the same, but CPU leaves out what the cores did for other programs.
	Elapsed, CPU Cost
}

// Cost is one kind of time, for each Setting that was run: Alone never is.
type Cost struct {
	Seconds [settings]peers.Spread
	// Ratios are those to Beside in the same round.
	Ratios [settings]Estimate
}

// costs sums up a series of seconds.
func (s *series) costs() (c Cost) {
	c.Seconds, _ = s.spreads()
	c.Ratios = s.estimates()
	return c
}

// errOutput says that replication has changed a program's output.
var errOutput = errors.New("its output isn't that of the job without replicas")

// Runs runs every application in every setting that is asked for. Their output must be the same
// in all, unless it varies.
func (b *Bench) Runs(ctx context.Context, applications []Application) ([]Run, error) {
	elapsed, cpu, prints := make([]series, len(applications)), make([]series, len(applications)), make([][]byte, len(applications))
	for round := range b.Rounds {
		for i, a := range applications {
			for _, s := range inTurn(b.Measured(Beside), round) {
				if s == Verified && a.Varies {
					b.progress()
					continue
				}
				took, used, outs, err := b.run(ctx, s, a)
				if err != nil {
					return nil, fmt.Errorf("%s, %v: %w", a.Name, s, err)
				}
				for _, out := range outs {
					if prints[i] == nil {
						prints[i] = out
					}
					if !a.Varies && !bytes.Equal(out, prints[i]) {
						return nil, fmt.Errorf("%s, %v: %w", a.Name, s, errOutput)
					}
				}
				elapsed[i].add(s, took.Seconds())
				cpu[i].add(s, used.Seconds())
				b.progress()
			}
		}
	}
	var rows []Run
	for i, a := range applications {
		rows = append(rows, Run{Name: a.Name, Ranks: b.Ranks, Replicas: b.Replicas, Elapsed: elapsed[i].costs(), CPU: cpu[i].costs()})
	}
	return rows, nil
}

// run takes the time from the start of the first launcher to the end of the last, and that of all
// processors.
func (b *Bench) run(ctx context.Context, s Setting, a Application) (took, cpu time.Duration, outs [][]byte, err error) {
	begin := time.Now()
	r, err := start(ctx, b.jobs(s, b.Ranks, nil, a.Command...))
	if err != nil {
		return 0, 0, nil, err
	}
	if err = r.wait(); err != nil {
		return 0, 0, nil, err
	}
	took = time.Since(begin)
	for _, out := range r.outs {
		outs = append(outs, out.Bytes())
	}
	return took, r.cpu(), outs, nil
}
