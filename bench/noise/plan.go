package noise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/bench/peers"
)

// Plan is what to measure: every kind at every period.
type Plan struct {
	Kinds   []Kind
	Periods []time.Duration // η
	Ratio   int             // δ in periods
	Ranks   int             // of Allreduce and Solver
	Rounds  int
	Span    time.Duration // of one measurement of messages
	Limit   time.Duration // ends a job that takes longer
	Solves  int           // of the solver

	Banyan string   // the command
	Role   []string // how to start a program that calls Perform with the rest of its arguments
	CG     []string // the solver, without the number of solves and the matrix
	Matrix string
}

// Periods are the usual ones.
func Periods() []time.Duration {
	var all []time.Duration
	for _, ms := range []float64{1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000} {
		all = append(all, time.Duration(ms*float64(time.Millisecond)))
	}
	return all
}

// Check returns an error for a plan that can't be carried out. It sorts the periods.
func (p *Plan) Check() error {
	switch {
	case len(p.Kinds) == 0:
		return errors.New("--only: want at least one kind")
	case len(p.Periods) < 2:
		return errors.New("--period: want at least two: each is compared with the longest")
	case p.Ratio < 2 || p.Ratio > 1000:
		return fmt.Errorf("--ratio %d: between 2 and 1000", p.Ratio)
	case p.Ranks < 2 || p.Ranks > 64:
		return fmt.Errorf("--ranks %d: between 2 and 64", p.Ranks)
	case p.Rounds < 1:
		return fmt.Errorf("--rounds %d: one at least", p.Rounds)
	case p.Span < 10*time.Millisecond || p.Span > time.Minute:
		return fmt.Errorf("--duration %v: between 10ms and 1m", p.Span)
	case p.Limit < time.Second:
		return fmt.Errorf("--timeout %v: at least 1s", p.Limit)
	case p.Solves < 1:
		return fmt.Errorf("--solves %d: one at least", p.Solves)
	}
	for _, k := range p.Kinds {
		if !slices.Contains(Kinds, k) {
			return fmt.Errorf("--only %q: there are latency, bandwidth, allreduce and solver", k)
		}
	}
	for _, period := range p.Periods {
		if period < time.Millisecond || period > time.Minute {
			return fmt.Errorf("--period %v: between 1ms and 1m", period)
		}
	}
	slices.Sort(p.Periods)
	p.Periods = slices.Compact(p.Periods)
	return nil
}

// Size is how many jobs a plan has.
func (p *Plan) Size() int { return p.Rounds * len(p.Kinds) * len(p.Periods) }

// Row is what was measured of a kind at a period.
type Row struct {
	Kind   Kind
	Period time.Duration
	// Nanoseconds are those of an operation: one way of a message, one all-reduction, one job of
	// the solver. Ratio is that to the longest period in the same round.
	Nanoseconds, Ratio peers.Spread
	CPU                peers.Spread // seconds of the job's processes
	Rounds             int          // that succeeded
	Failed             int          // jobs that ended with an error
	Why                string       // the first of them
}

// Instructions are those that heartbeats add to an operation, if a period has so many.
func (r *Row) Instructions(perPeriod float64) float64 {
	return perPeriod * r.Nanoseconds.Median / float64(r.Period.Nanoseconds())
}

// outcome is that of one job.
type outcome struct {
	ns, cpu float64
	why     string // "" if it succeeded
}

// runner runs one job. Tests replace it.
type runner func(ctx context.Context, k Kind, period time.Duration) (outcome, error)

// Run carries a plan out. progress is called after each job. The end of ctx ends Run.
func (p *Plan) Run(ctx context.Context, progress func()) ([]Row, error) {
	return p.run(ctx, p.job, progress)
}

func (p *Plan) run(ctx context.Context, job runner, progress func()) ([]Row, error) {
	outcomes := make([][]outcome, len(p.Kinds)*len(p.Periods)) // by round
	for round := range p.Rounds {
		for i := range outcomes {
			at := i
			if round%2 == 1 {
				at = len(outcomes) - 1 - i
			}
			o, err := job(ctx, p.Kinds[at/len(p.Periods)], p.Periods[at%len(p.Periods)])
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			outcomes[at] = append(outcomes[at], o)
			progress()
		}
	}
	var rows []Row
	for i, k := range p.Kinds {
		longest := outcomes[(i+1)*len(p.Periods)-1]
		for j, period := range p.Periods {
			row := Row{Kind: k, Period: period}
			row.sum(outcomes[i*len(p.Periods)+j], longest)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// sum sums up the rounds.
func (r *Row) sum(all, longest []outcome) {
	var ns, cpu, ratios []float64
	for round, o := range all {
		if o.why != "" {
			if r.Failed++; r.Why == "" {
				r.Why = o.why
			}
			continue
		}
		ns, cpu = append(ns, o.ns), append(cpu, o.cpu)
		if base := longest[round]; base.why == "" {
			ratios = append(ratios, o.ns/base.ns)
		}
	}
	r.Rounds = len(ns)
	r.Nanoseconds, r.CPU, r.Ratio = peers.SpreadOf(ns), peers.SpreadOf(cpu), peers.SpreadOf(ratios)
}

// job runs one job.
func (p *Plan) job(ctx context.Context, k Kind, period time.Duration) (outcome, error) {
	ranks := p.Ranks
	if k == Latency || k == Bandwidth {
		ranks = 2
	}
	args := []string{
		"run", "--timeout", p.Limit.String(), "-n", strconv.Itoa(ranks), "--bind-to", "core",
		"--heartbeat-period", period.String(), "--heartbeat-timeout", (time.Duration(p.Ratio) * period).String(),
	}
	if k == Solver {
		args = append(append(args, p.CG...), "-solves", strconv.Itoa(p.Solves), p.Matrix)
	} else {
		args = append(append(args, p.Role...), string(k), strconv.FormatInt(int64(p.Span), 10))
	}
	cmd := exec.CommandContext(ctx, p.Banyan, args...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return outcome{why: lastLine(errs.String() + out.String())}, nil
	case err != nil:
		return outcome{}, err
	}
	o := outcome{ns: float64(took.Nanoseconds()), cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if k == Solver {
		return o, nil
	}
	if o.ns, err = strconv.ParseFloat(strings.TrimSpace(out.String()), 64); err != nil || !(o.ns > 0) || math.IsInf(o.ns, 0) {
		return outcome{}, fmt.Errorf("%s: a job printed %q, not the time of its operations", k, out.String())
	}
	return o, nil
}

// lastLine is the end of what a failed job said.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "it failed without a word"
}
