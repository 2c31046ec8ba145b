package detection

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// PeriodPlan is a search for the smallest heartbeat period η at which each system is safe, and the
// measurement of how fast it detects there: figure 9 of the paper.
//
// A period is safe for a system and a number of members if none of Trials runs has a false
// suspicion: all members come up, and for the time Quiet from then on none takes another for dead
// that lives, while Load processes compute. A suspicion while they come up counts too if it lasts:
// Banyan's always do, since the suspect is fenced; a peer's are taken back. Banyan's δ is Ratio·η;
// the peers derive their own times from η.
//
// The smallest safe period is found by bisection among Periods. So it was safe in all its runs, and
// the next smaller one wasn't in one of them. That larger ones are safe too is taken for granted.
type PeriodPlan struct {
	Setting // Quiet, Load, Compute: the load and the time of a run
	Systems []System
	N       []int
	Periods []time.Duration
	Ratio   int
	Trials  int
	// Runs is how often the detection of a stopped member is measured, at the smallest safe period;
	// and with Curve members at all larger ones, too.
	Runs  int
	Curve int // 0: none
	Seed  uint64
	Again []string
}

// Periods are the usual ones.
func Periods() []time.Duration {
	var all []time.Duration
	for _, ms := range []float64{1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000} {
		all = append(all, time.Duration(ms*float64(time.Millisecond)))
	}
	return all
}

// SafePeriod is what was found for a system and a number of members.
type SafePeriod struct {
	System System
	N      int
	Safe   time.Duration // 0: none of the periods
	// Unsafe is the next smaller period, 0 if Safe is the smallest of all, and Why it isn't safe.
	Unsafe time.Duration
	Why    string
	// At is the detection of a stopped member at the smallest safe period, nil if there is none.
	At *Summary
	// Curve is the same at all periods that are as large or larger, where that was asked for.
	Curve []*Summary
}

// Check returns an error for a plan that can't be carried out. It sorts the periods.
func (p *PeriodPlan) Check() error {
	switch {
	case p.Trials < 1:
		return fmt.Errorf("--trials %d: one at least", p.Trials)
	case p.Runs < 1:
		return fmt.Errorf("--runs %d: one at least", p.Runs)
	case p.Ratio < 2 || p.Ratio > 100:
		return fmt.Errorf("--ratio %d: between 2 and 100", p.Ratio)
	case len(p.N) == 0 || len(p.Periods) == 0 || len(p.Systems) == 0:
		return errors.New("-n, --period: want at least one each")
	case p.Quiet < 100*time.Millisecond:
		return fmt.Errorf("--duration %v: at least 100ms", p.Quiet)
	case p.Curve != 0 && !slices.Contains(p.N, p.Curve):
		return fmt.Errorf("--curve %d: one of the numbers of members (-n), or 0 for none", p.Curve)
	}
	slices.Sort(p.Periods)
	p.Periods = slices.Compact(p.Periods)
	for _, n := range p.N {
		for _, system := range p.Systems {
			for _, period := range p.Periods {
				s := p.at(system, n, period, Stop)
				if err := s.check(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// at is the setting at a period.
func (p *PeriodPlan) at(system System, n int, period time.Duration, fault Fault) Setting {
	s := p.Setting
	s.System, s.N, s.Period, s.Timeout, s.Fault = system, n, period, time.Duration(p.Ratio)*period, fault
	return s
}

// runner runs a setting once. Tests replace it.
type runner func(ctx context.Context, s Setting, seed uint64) (Row, error)

// Run searches and measures, one number of members after the other. progress is called with what
// is going on; each with what was found. The end of ctx ends Run.
func (p *PeriodPlan) Run(ctx context.Context, progress func(step string, done, total int), each func(SafePeriod) error) error {
	return p.run(ctx, func(ctx context.Context, s Setting, seed uint64) (Row, error) {
		return Once(ctx, s, p.Again, seed)
	}, progress, each)
}

func (p *PeriodPlan) run(ctx context.Context, run runner, progress func(step string, done, total int), each func(SafePeriod) error) error {
	rng := rand.New(rand.NewPCG(p.Seed, 0))
	for _, n := range p.N {
		for _, system := range p.Systems {
			found, err := p.search(ctx, run, rng, system, n, progress)
			if err != nil {
				return err
			}
			if err := p.detect(ctx, run, rng, &found, progress); err != nil {
				return err
			}
			if err := each(found); err != nil {
				return err
			}
		}
	}
	return nil
}

// search bisects for the smallest safe period.
func (p *PeriodPlan) search(ctx context.Context, run runner, rng *rand.Rand, system System, n int, progress func(string, int, int)) (SafePeriod, error) {
	found := SafePeriod{System: system, N: n}
	low, high := 0, len(p.Periods) // below low none is safe, from high on all are
	step, total, done := fmt.Sprintf("%s, %d members: search", system, n), bits.Len(uint(high))*p.Trials, 0
	for low < high {
		mid := (low + high) / 2
		why := ""
		for range p.Trials {
			progress(step, min(done, total), total)
			row, err := run(ctx, p.at(system, n, p.Periods[mid], None), rng.Uint64())
			if ctx.Err() != nil {
				return found, ctx.Err()
			}
			if why = unsafe(&row, err); why != "" {
				break
			}
			done++
		}
		if why == "" {
			high = mid
		} else {
			low = mid + 1
			found.Unsafe, found.Why = p.Periods[mid], why
		}
	}
	if high < len(p.Periods) {
		found.Safe = p.Periods[high]
	}
	return found, nil
}

// unsafe says why a run shows that its period isn't safe, "" if it doesn't.
func unsafe(row *Row, err error) string {
	switch {
	case err != nil:
		why, _, _ := strings.Cut(err.Error(), "; the processes say") // as many lines as there are members
		return strings.Join(strings.Fields(why), " ")
	case row.QuietSuspicions > 0:
		return fmt.Sprintf("%d live members are suspected within %v", row.QuietSuspicions, row.Quiet)
	case row.System.isBanyan() && row.FalseSuspicions > 0:
		return fmt.Sprintf("%d live members are suspected while all come up", row.FalseSuspicions)
	}
	return ""
}

// detectionQuiet is how long the members are left alone before one is stopped to measure its
// detection.
const detectionQuiet = 500 * time.Millisecond

// detect measures the detection of a stopped member.
func (p *PeriodPlan) detect(ctx context.Context, run runner, rng *rand.Rand, found *SafePeriod, progress func(string, int, int)) error {
	if found.Safe == 0 {
		return nil
	}
	first, _ := slices.BinarySearch(p.Periods, found.Safe)
	periods := p.Periods[first : first+1]
	if found.N == p.Curve {
		periods = p.Periods[first:]
	}
	step := fmt.Sprintf("%s, %d members: detection", found.System, found.N)
	for i, period := range periods {
		var rows []Row
		for k := range p.Runs {
			progress(step, i*p.Runs+k, len(periods)*p.Runs)
			s := p.at(found.System, found.N, period, Stop)
			s.Quiet = max(detectionQuiet, 5*period)
			row, err := run(ctx, s, rng.Uint64())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue // it came up in the search, and no more: the table shows the gap
		}
		summary := Summarise(rows)[0]
		if i == 0 {
			found.At = summary
		}
		if found.N == p.Curve {
			found.Curve = append(found.Curve, summary)
		}
	}
	return nil
}
