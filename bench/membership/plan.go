package membership

import (
	"context"
	"errors"
	"fmt"

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
	// Again is how to start this program so that it calls Perform.
	Again []string
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

// Size returns how many runs a plan has.
func (p *Plan) Size() int { return p.Runs * len(p.settings()) }

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
	return nil
}

// Result is what was measured by a plan.
type Result struct {
	Machine Machine
	Rows    []Row
	Fits    []Fitted // one of the processes and one of the goroutines, if there were any
}

// Fitted is the contention among members of one sort.
type Fitted struct {
	Apart bool // they are processes
	viewtime.Fit
	Err error // why there is none, if there is none
}

// Run carries a plan out, and calls done with the number of runs that are done. When a setting
// fails, the others go on; the end of ctx ends Run. What was measured is returned, with the
// errors.
func (p *Plan) Run(ctx context.Context, done func(runs int)) (*Result, error) {
	machine, err := MeasureMachine(p.Again)
	if err != nil {
		return nil, fmt.Errorf("measuring L and Ocp of this machine: %w", err)
	}
	r := &Result{Machine: machine}
	var failures []error
	runs := 0
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
	for _, apart := range []bool{true, false} {
		var rows []*Row
		for i := range r.Rows {
			if row := &r.Rows[i]; p.apart(&row.Setting) == apart {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			fit, err := machine.Fit(rows)
			r.Fits = append(r.Fits, Fitted{apart, fit, err})
		}
	}
	return r, errors.Join(failures...)
}

// measure does all runs of a setting in one group.
func (p *Plan) measure(ctx context.Context, s Setting, done func()) ([]Row, error) {
	c, err := assemble(ctx, s, p.Runs, p.Again, p.apart(&s), p.Seed)
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
