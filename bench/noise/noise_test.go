package noise

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/study/report"
	"banyan/internal/testing/scratch"
)

// The test binary is also the jobs' program.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "noise-role" {
		if err := Perform(os.Args[2:]); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
		}
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func plan() Plan {
	return Plan{
		Kinds: []Kind{Latency, Solver}, Periods: []time.Duration{time.Second, time.Millisecond, 100 * time.Millisecond},
		Ratio: 10, Ranks: 2, Rounds: 6, Span: 20 * time.Millisecond, Limit: time.Minute, Solves: 1,
	}
}

// TestRun: ratios are to the longest period of the same round, so that a machine that gets slower
// doesn't matter; a failed job counts as such, and leaves its round out.
func TestRun(t *testing.T) {
	p := plan()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	n := 0
	rows, err := p.run(t.Context(), func(_ context.Context, k Kind, period time.Duration) (outcome, error) {
		n++
		round := (n - 1) / 6
		o := outcome{ns: 100 * float64(1+round), cpu: 1}
		if period == time.Millisecond {
			o.ns *= 1.5
			if k == Solver && round == 0 {
				o.why = "a process was taken for dead"
			}
		}
		return o, nil
	}, func() {})
	if err != nil || n != p.Size() || len(rows) != 6 {
		t.Fatal(err, n, rows)
	}
	for _, r := range rows {
		want, failed := 1.0, 0
		if r.Period == time.Millisecond {
			want = 1.5
			if r.Kind == Solver {
				failed = 1
			}
		}
		if math.Abs(r.Ratio.Median-want) > 1e-9 || math.Abs(r.Ratio.High-want) > 1e-9 || r.Failed != failed || r.Rounds != 6-failed {
			t.Errorf("%+v", r)
		}
	}
	// 3,000 instructions a millisecond are 1.05 in 350 ns.
	r := Row{Kind: Latency, Period: time.Millisecond}
	r.Nanoseconds.Median = 350
	if got := r.Instructions(3000); math.Abs(got-1.05) > 1e-9 {
		t.Errorf("%g instructions", got)
	}
	page := Report("banyan bench detector noise", nil, &p, rows, 3000)
	if err := page.Write(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]report.Verdict{}
	for _, c := range page.Claims {
		verdicts[c.What] = c.Verdict
	}
	if verdicts["messages with frequent heartbeats"] != report.Differs || verdicts["a solver shows no degradation for η ≥ 100 ms"] != report.Agrees {
		t.Errorf("%v", verdicts)
	}
}

func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"kinds":    func(p *Plan) { p.Kinds = nil },
		"kind":     func(p *Plan) { p.Kinds = []Kind{"chess"} },
		"periods":  func(p *Plan) { p.Periods = p.Periods[:1] },
		"period":   func(p *Plan) { p.Periods[0] = time.Microsecond },
		"ratio":    func(p *Plan) { p.Ratio = 1 },
		"ranks":    func(p *Plan) { p.Ranks = 1 },
		"rounds":   func(p *Plan) { p.Rounds = 0 },
		"duration": func(p *Plan) { p.Span = 0 },
		"timeout":  func(p *Plan) { p.Limit = 0 },
		"solves":   func(p *Plan) { p.Solves = 0 },
	} {
		p := plan()
		if spoil(&p); p.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if Perform([]string{"chess", "1"}) == nil || Perform(nil) == nil {
		t.Error("an unknown kind is performed")
	}
}

// TestJobs runs real jobs of every kind of messages.
func TestJobs(t *testing.T) {
	dir, err := scratch.Make()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Remove()
	if err := dir.Build("banyan/cmd/banyan"); err != nil {
		t.Fatal(err)
	}
	p := plan()
	p.Banyan = filepath.Join(dir.Path, "banyan")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Role = []string{self, "noise-role"}
	for _, k := range []Kind{Latency, Bandwidth, Allreduce} {
		o, err := p.job(t.Context(), k, time.Second)
		if err != nil || o.why != "" || o.ns <= 0 || o.cpu <= 0 {
			t.Errorf("%s: %+v, %v", k, o, err)
		}
	}
	// A job that fails says why.
	p.Role = []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}
	if o, err := p.job(t.Context(), Latency, time.Second); err != nil || o.why == "" {
		t.Errorf("%+v, %v", o, err)
	}
	// One that prints nonsense is an error, not a time.
	p.Role = []string{"/bin/echo"}
	if _, err := p.job(t.Context(), Latency, time.Second); err == nil || !strings.Contains(err.Error(), "printed") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
