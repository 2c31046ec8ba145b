package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Plan is what to measure: every number of members along every tree, with every fault.
type Plan struct {
	N       []int
	Arities []int
	Faults  []Fault
	Runs    int // of each
	// Apart is up to how many members each is a process of its own. In larger groups they are
	// goroutines, and up to 128 share a process.
	Apart int
	Seed  uint64 // draws the victims
	// Gather is how long a coordinator waits for more deaths before it begins: in the times First
	// and All of a row, not in the stabilisation time.
	Gather time.Duration
	// Contended is L under contention, for the models. It is measured first if it is nil.
	Contended *viewtime.Contended
	// Again is how to start this program so that it calls Perform, ContentionAgain so that it calls
	// contention.Perform.
	Again, ContentionAgain []string
}

// settings returns all settings in their order.
func (p *Plan) settings() (all []Setting) {
	for _, f := range p.Faults {
		for _, arity := range p.Arities {
			for _, n := range p.N {
				all = append(all, Setting{n, arity, f})
			}
		}
	}
	return all
}

// Size returns how many runs a plan has, those of the contention among them.
func (p *Plan) Size() int {
	n := p.Runs * len(p.settings())
	if p.Contended == nil {
		plans, _ := p.contentionPlans() // Run returns the error
		for i := range plans {
			n += plans[i].Count()
		}
	}
	return n
}

// apart says whether the members of a setting are processes.
func (p *Plan) apart(s *Setting) bool { return s.N <= p.Apart }

// Check returns an error for a plan that can't be carried out.
func (p *Plan) Check() error {
	switch {
	case p.Runs < 1:
		return fmt.Errorf("--runs %d: want one at least", p.Runs)
	case p.Apart < 0:
		return fmt.Errorf("--processes %d: want 0 or more", p.Apart)
	case len(p.N) == 0 || len(p.Arities) == 0 || len(p.Faults) == 0:
		return errors.New("-n, --arity and --fault: want at least one each")
	}
	all := p.settings()
	for i := range all {
		if err := all[i].Check(); err != nil {
			return err
		}
	}
	if p.Contended != nil {
		for _, arity := range p.Arities {
			if !slices.Contains(p.Contended.Children(), arity) {
				return fmt.Errorf("--arity %d: the contention was measured with %v children", arity, p.Contended.Children())
			}
		}
	}
	return nil
}

// Result is what was measured by a plan.
type Result struct {
	Machine Machine
	Rows    []Row
	Matches []Match // one of the processes and one of the goroutines, if there were any
}

// Match is how well the models describe the deaths of single members of one sort.
type Match struct {
	Apart bool // they are processes
	Count int  // medians
	// How far these are off: the root of the mean square.
	Base, Contention risk.Seconds
}

// Run carries a plan out, and calls done with the number of runs that are done. When a setting
// fails, the others go on; the end of ctx ends Run. What was measured is returned, with the
// errors.
func (p *Plan) Run(ctx context.Context, done func(runs int)) (*Result, error) {
	machine, err := MeasureMachine(p.Again)
	if err != nil {
		return nil, fmt.Errorf("measuring L and Ocp of this machine: %w", err)
	}
	runs := 0
	if machine.Contended = p.Contended; machine.Contended == nil {
		machine.Contended, err = p.measureContention(ctx, func(n int) { runs = n; done(n) })
		if err != nil {
			return nil, fmt.Errorf("measuring the contention of this machine: %w", err)
		}
	}
	r := &Result{Machine: machine}
	var failures []error
	for _, s := range p.settings() {
		rows, err := p.measure(ctx, s, func() { runs++; done(runs) })
		r.Rows = append(r.Rows, rows...)
		if ctx.Err() != nil {
			failures = []error{ctx.Err()}
			break
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%v: %w", &s, err))
		}
	}
	machine.Describe(r.Rows)
	for _, apart := range []bool{true, false} {
		if m, any := machine.match(medians(r.Rows, func(s *Setting) bool { return p.apart(s) == apart })); any {
			m.Apart = apart
			r.Matches = append(r.Matches, m)
		}
	}
	return r, errors.Join(failures...)
}

// measure does all runs of a setting in one group.
func (p *Plan) measure(ctx context.Context, s Setting, done func()) ([]Row, error) {
	c, err := assemble(ctx, p, s)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var rows []Row
	for run := range p.Runs {
		row, err := c.change()
		if err != nil {
			return rows, fmt.Errorf("run %d: %w", run, err)
		}
		row.Run = run
		rows = append(rows, row)
		done()
	}
	return rows, nil
}
