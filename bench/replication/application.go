package replication

import (
	"context"
	"fmt"
	"time"

	"banyan/bench/peers"
	"banyan/internal/study/ratio"
)

// Application is a program to run.
type Application struct {
	Name    string
	Command []string
	Ranks   int // 0: as the bench says
	// Varies says that its output may differ from run to run: it may print times, and may sum them
	// up over its ranks. So only the lines that jobs without replicas always print are compared,
	// and it isn't run in the setting Verified.
	Varies bool
}

// Applications returns those of the project, in a directory of programs: a solver by conjugate
// gradients, for a matrix, and one by multigrid; each receives by name, or from any source. They
// do a share of their usual work: all, a half, a third …
func Applications(bin func(string) string, matrix string, share int) []Application {
	cg, multigrid := bin("cg"), bin("multigrid")
	solves := func(usual int) string { return fmt.Sprint(max(1, usual/share)) }
	return []Application{
		{Name: "cg", Command: []string{cg, "-any-source=false", "-solves", solves(25), matrix}},
		{Name: "cg, any source", Command: []string{cg, "-any-source=true", "-solves", solves(25), matrix}},
		{Name: "multigrid", Command: []string{multigrid, "-any-source=false", "-solves", solves(8)}},
		{Name: "multigrid, any source", Command: []string{multigrid, "-any-source=true", "-solves", solves(8)}},
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
	Ratios [settings]ratio.Estimate
}

// costs sums up a series of seconds.
func (s *series) costs() (c Cost) {
	c.Seconds, _ = s.spreads()
	c.Ratios = s.estimates()
	return c
}

// moreRuns is how many more jobs without replicas may show that a line of a program's output
// varies.
const moreRuns = 4

// Runs runs every application in every setting that is asked for. What they print with replicas
// must be what they print without.
func (b *Bench) Runs(ctx context.Context, applications []Application) ([]Run, error) {
	elapsed, cpu, prints := make([]series, len(applications)), make([]series, len(applications)), make([]output, len(applications))
	for round := range b.Rounds {
		for i, a := range applications {
			order := b.inRound(Beside, round)
			if b.enough(Beside, &elapsed[i], &cpu[i]) {
				b.skip(len(order))
				continue
			}
			samples, err := b.together(PartApplication, fmt.Sprintf("%s, round %d", a.Name, round), len(order), func() (all []Sample, err error) {
				for _, s := range order {
					if s == Verified && a.Varies {
						b.progress()
						continue
					}
					took, used, outs, err := b.run(ctx, s, a)
					if err == nil {
						err = b.compare(ctx, s, a, &prints[i], outs)
					}
					if err != nil {
						return all, fmt.Errorf("%s, %v: %w", a.Name, s, err)
					}
					all = append(all, Sample{Part: PartApplication, Name: a.Name, Ranks: b.ranks(&a), Replicas: b.Replicas, Setting: s, Round: round, Seconds: took.Seconds(), CPU: used.Seconds()})
					b.progress()
				}
				return all, nil
			})
			if err != nil {
				return nil, err
			}
			for _, s := range samples {
				elapsed[i].add(s.Setting, s.Seconds)
				cpu[i].add(s.Setting, s.CPU)
			}
		}
	}
	var rows []Run
	for i, a := range applications {
		rows = append(rows, Run{Name: a.Name, Ranks: b.ranks(&a), Replicas: b.Replicas, Elapsed: elapsed[i].costs(), CPU: cpu[i].costs()})
	}
	return rows, nil
}

// ranks are those that an application runs with.
func (b *Bench) ranks(a *Application) int {
	if a.Ranks > 0 {
		return a.Ranks
	}
	return b.Ranks
}

// compare holds what jobs have printed against what others have.
func (b *Bench) compare(ctx context.Context, s Setting, a Application, o *output, outs [][]byte) error {
	for _, out := range outs {
		var err error
		switch {
		case !a.Varies:
			err = o.same(out)
		case s == Beside:
			o.native(out)
		default:
			err = b.replicated(ctx, a, o, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replicated holds what a job with replicas has printed against what jobs without have. If a line
// is missing, more of these show whether it always comes.
func (b *Bench) replicated(ctx context.Context, a Application, o *output, out []byte) error {
	err := o.replicated(out)
	for more := 0; err != nil && more < moreRuns; more++ {
		_, _, outs, failed := b.run(ctx, Alone, a)
		if failed != nil {
			return failed
		}
		o.native(outs[0])
		err = o.replicated(out)
	}
	return err
}

// run takes the time from the start of the first launcher to the end of the last, and that of all
// processors.
func (b *Bench) run(ctx context.Context, s Setting, a Application) (took, cpu time.Duration, outs [][]byte, err error) {
	begin := time.Now()
	r, err := start(ctx, b.jobs(s, b.ranks(&a), nil, a.Command...))
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
