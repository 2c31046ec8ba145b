package views

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"banyan/bench/membership"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Plan is what to measure: everything with every number of processes.
type Plan struct {
	Of       []Of
	N        []int
	Programs []Program // of jobs
	Faults   []membership.Fault
	Runs     int    // of each
	Seed     uint64 // draws the victims

	// Banyan is the command, which starts jobs. Role begins the command line of their processes,
	// which call Perform with the rest; Again starts a member of a group (membership.Perform).
	Banyan      string
	Role, Again []string
}

const (
	// jobPeriod is the heartbeat period of the jobs, the default. The time-out is long, so that a
	// busy machine causes no false suspicion.
	jobPeriod  = 100 * time.Millisecond
	jobTimeout = 20 * time.Second
	// gather is how long the coordinator of such a job gathers deaths, and here that of a group.
	gather = jobPeriod / 20
)

// Settings are all settings in their order.
func (p *Plan) Settings() (all []Setting) {
	for _, f := range p.Faults {
		for _, of := range p.Of {
			programs := p.Programs
			if of == Group {
				programs = []Program{Waiting}
			}
			for _, program := range programs {
				for _, n := range p.N {
					all = append(all, Setting{of, n, program, f})
				}
			}
		}
	}
	return all
}

// Count is how many runs a plan has.
func (p *Plan) Count() int { return p.Runs * len(p.Settings()) }

// Check returns an error for a plan that can't be carried out. It names the flag.
func (p *Plan) Check() error {
	if p.Runs < 1 {
		return fmt.Errorf("--runs %d: want one at least", p.Runs)
	}
	all := p.Settings()
	if len(all) == 0 || len(p.Programs) == 0 {
		return errors.New("-n, --of, --program and --fault: want at least one each")
	}
	for i := range all {
		if err := all[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Row is one run.
type Row struct {
	Setting
	Run int
	// First is from the kill until the first process had the view, All until all had.
	First, All risk.Seconds
}

// Run carries a plan out, and calls done with how many runs are over. When a setting fails, the
// others go on; the end of ctx ends Run. What was measured is returned, with the errors.
func (p *Plan) Run(ctx context.Context, done func(runs int)) ([]Row, error) {
	var rows []Row
	var failures []error
	random := rand.New(rand.NewPCG(p.Seed, 0))
	for _, s := range p.Settings() {
		measured, err := p.measure(ctx, s, random, func(runs int) { done(len(rows) + runs) })
		rows = append(rows, measured...)
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%v: %w", &s, err))
		}
	}
	return rows, errors.Join(failures...)
}

// measure does all runs of a setting.
func (p *Plan) measure(ctx context.Context, s Setting, random *rand.Rand, done func(runs int)) (rows []Row, err error) {
	if s.Of == Group {
		return p.group(ctx, s, done)
	}
	for run := range p.Runs {
		row, err := p.job(ctx, s, victims(s, random))
		if err != nil {
			return rows, fmt.Errorf("run %d: %w", run, err)
		}
		row.Run = run
		rows = append(rows, row)
		done(len(rows))
	}
	return rows, nil
}

// group measures members of a group, all runs in one.
func (p *Plan) group(ctx context.Context, s Setting, done func(runs int)) (rows []Row, err error) {
	none, err := viewtime.NewContended([]viewtime.Latency{{Children: arity, Nodes: 2, Time: 1}}) // no model is looked at
	if err != nil {
		return nil, err
	}
	g := membership.Plan{
		N: []int{s.N}, Arities: []int{arity}, Faults: []membership.Fault{s.Fault}, Runs: p.Runs, Apart: membership.MaxMembers,
		Seed: p.Seed, Gather: gather, Contended: none, Again: p.Again,
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	r, err := g.Run(ctx, done)
	if r != nil {
		for _, x := range r.Rows {
			rows = append(rows, Row{s, x.Run, x.First, x.All})
		}
	}
	return rows, err
}

// arity is that of the trees of jobs.
const arity = 2

// victims draws the processes that die. In a job process 0 is the coordinator, and the number of a
// process is its replica times the number of ranks, plus its rank.
func victims(s Setting, random *rand.Rand) []int {
	if s.Fault.Kind == membership.Root {
		return []int{0}
	}
	ranks := s.N / s.replicas()
	var chosen []int
	taken := map[int]bool{}
	for _, p := range random.Perm(s.N) {
		if p == 0 || taken[p%ranks] {
			continue
		}
		if len(chosen) == s.Fault.Deaths() {
			break
		}
		chosen, taken[p%ranks] = append(chosen, p), true
	}
	slices.Sort(chosen)
	return chosen
}
