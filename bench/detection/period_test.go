package detection

import (
	"context"
	"errors"
	"testing"
	"time"
)

// simulated plays runs of a system that errs below a period, and detects after nine of them.
func simulated(smallest map[System]time.Duration, tried map[System][]time.Duration) runner {
	return func(_ context.Context, s Setting, _ uint64) (Row, error) {
		tried[s.System] = append(tried[s.System], s.Period)
		row := Row{Setting: s, Known: s.N - 1, First: 9 * s.Period, Last: 10 * s.Period, Messages: 1}
		if s.Period < smallest[s.System] {
			if s.Period < smallest[s.System]/10 {
				return Row{}, errors.New("not all have come up")
			}
			row.FalseSuspicions, row.QuietSuspicions = 1, 1
		}
		return row, nil
	}
}

func periodPlan() PeriodPlan {
	return PeriodPlan{
		Setting: Setting{Quiet: time.Second}, Systems: []System{Banyan, MemberlistSwim}, N: []int{8, 16}, Periods: Periods(),
		Ratio: 10, Trials: 2, Runs: 6, Curve: 16,
	}
}

// TestSearch: the bisection finds the smallest safe period, whichever it is, and says why the next
// smaller one isn't.
func TestSearch(t *testing.T) {
	grid := Periods()
	for i := range len(grid) + 1 {
		smallest := time.Hour // none
		if i < len(grid) {
			smallest = grid[i]
		}
		p, tried := periodPlan(), map[System][]time.Duration{}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		count := 0
		err := p.run(t.Context(), simulated(map[System]time.Duration{Banyan: smallest}, tried), func(_ string, done, total int) {
			if done > total {
				t.Errorf("%d of %d are done", done, total)
			}
		}, func(f SafePeriod) error {
			count++
			want := SafePeriod{System: f.System, N: f.N, Safe: grid[0]}
			if f.System == Banyan {
				want.Safe = 0
				if i < len(grid) {
					want.Safe = grid[i]
				}
				if i > 0 {
					want.Unsafe = grid[i-1]
				}
			}
			if f.Safe != want.Safe || f.Unsafe != want.Unsafe || (f.Why == "") != (want.Unsafe == 0) {
				t.Errorf("%+v, want %+v", f, want)
			}
			if (f.At == nil) != (f.Safe == 0) || f.At != nil && (f.At.Period != f.Safe || f.At.Runs != 6) {
				t.Errorf("%v: detection %+v", f.Safe, f.At)
			}
			curve := 0
			if f.N == 16 && f.System != Banyan {
				curve = len(grid)
			} else if f.N == 16 {
				curve = len(grid) - i
			}
			if len(f.Curve) != curve {
				t.Errorf("%d points, want %d", len(f.Curve), curve)
			}
			return nil
		})
		if err != nil || count != 4 {
			t.Fatal(err, count)
		}
	}
}

// TestUnsafe: the reason fits into a table, and a peer's suspicion while members come up is taken
// back.
func TestUnsafe(t *testing.T) {
	if why := unsafe(&Row{}, errors.New("two didn't\n come up; the processes say: oh\nno")); why != "two didn't come up" {
		t.Errorf("%q", why)
	}
	r := Row{Setting: setting(Memberlist, None), FalseSuspicions: 2}
	if why := unsafe(&r, nil); why != "" {
		t.Error(why)
	}
	if r.System = Banyan; unsafe(&r, nil) == "" {
		t.Error("a fenced member counts as safe")
	}
	if r = (Row{Setting: setting(Memberlist, None), QuietSuspicions: 1}); unsafe(&r, nil) == "" {
		t.Error("a suspicion counts as safe")
	}
}

func TestPeriodPlanCheck(t *testing.T) {
	for name, spoil := range map[string]func(*PeriodPlan){
		"trials":   func(p *PeriodPlan) { p.Trials = 0 },
		"runs":     func(p *PeriodPlan) { p.Runs = 0 },
		"ratio":    func(p *PeriodPlan) { p.Ratio = 1 },
		"members":  func(p *PeriodPlan) { p.N = nil },
		"few":      func(p *PeriodPlan) { p.N = []int{2, 16} },
		"duration": func(p *PeriodPlan) { p.Quiet = time.Millisecond },
		"curve":    func(p *PeriodPlan) { p.Curve = 9 },
		"periods":  func(p *PeriodPlan) { p.Periods = []time.Duration{time.Microsecond} },
		"too long": func(p *PeriodPlan) { p.Periods = []time.Duration{time.Minute} },
	} {
		p := periodPlan()
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if spoil(&p); p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestPeriodReport: the claims follow what was found.
func TestPeriodReport(t *testing.T) {
	p := periodPlan()
	var all []SafePeriod
	err := p.run(t.Context(), simulated(map[System]time.Duration{MemberlistSwim: 100 * time.Millisecond}, map[System][]time.Duration{}),
		func(string, int, int) {}, func(f SafePeriod) error { all = append(all, f); return nil })
	if err != nil {
		t.Fatal(err)
	}
	r := PeriodReport("banyan bench detector period", &p, all)
	if err := r.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if len(r.Claims) < 4 || len(r.Sections[0].Figures) != 3 {
		t.Errorf("%d claims, %d figures", len(r.Claims), len(r.Sections[0].Figures))
	}
}
