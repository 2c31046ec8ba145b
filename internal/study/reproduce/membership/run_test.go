package membership

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"banyan/internal/study/pieces"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
)

// small is a reproduction that takes a second.
func small() Parameters {
	p := Quick()
	p.Workers, p.Runs, p.Largest, p.Faulty = 2, 3, 1024, 40
	return p
}

// machine is a model of a machine, with contention: pairs are alone up to twelve nodes, and more
// children and nodes take more.
var machine = viewtime.Model{Latency: 50e-6, Compute: 5e-6, Contended: contended()}

func contended() *viewtime.Contended {
	var all []viewtime.Latency
	for _, children := range []int{1, 2, 4} {
		for _, n := range []int{3, 5, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44} {
			l := viewtime.Latency{Children: children, Nodes: n, Time: 50e-6 + risk.Seconds(children*n)*1e-6}
			if children == 1 {
				l.Time = 50e-6 + risk.Seconds(max(0, n-12))*0.5e-6
			}
			all = append(all, l)
		}
	}
	c, err := viewtime.NewContended(all)
	if err != nil {
		panic(err)
	}
	return c
}

// measure invents measurements that follow the model, with a quarter of a µs between runs.
func measure(change func(*Measurement)) []Measurement {
	var all []Measurement
	for _, arity := range []int{2, 4} {
		for _, live := range []int{1, 2, 3, 5, 7, 9, 12, 15, 21, 25, 30, 35, 40, 46, 127} {
			for run := range 3 {
				m := Measurement{Live: live, Arity: arity, Base: machine.Base(live, arity), Contention: machine.Stabilise(live, arity), Messages: 3 * (live - 1)}
				m.Stabilise = max(0, m.Contention+risk.Seconds(run-1)*0.25e-6)
				m.Commit = m.Stabilise * 3 / 2
				change(&m)
				all = append(all, m)
			}
		}
	}
	return all
}

func result(t *testing.T, p Parameters) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), nil, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check checks that the claims whose text contains a name have this verdict.
func check(t *testing.T, r *report.Report, want report.Verdict, names ...string) {
	t.Helper()
	for _, name := range names {
		found := false
		for _, c := range r.Claims {
			if strings.Contains(c.What, name) {
				found = true
				if c.Verdict != want {
					t.Errorf("%s: %v, want %v; ours %s", c.What, c.Verdict, want, c.Ours)
				}
			}
		}
		if !found {
			t.Errorf("there is no claim %q", name)
		}
	}
}

// TestRun: which of the claims about models and simulations hold, by name.
func TestRun(t *testing.T) {
	r := result(t, small())
	check(t, r, report.Agrees,
		"hundreds of microseconds at 1,024 nodes",
		"grows logarithmically",
		"the base model is far off",
		"with four children it takes less",
		"single-digit milliseconds over TCP",
		"steps above 5 and 21",
		"tens of thousands",
		"extremely flat trees",
		"one message down and one acknowledgement up",
		"a join propagates",
		"failures on every level",
		"by Banyan's protocol",
	)
	check(t, r, report.Differs,
		"the distance model closely matches",
		"the distance model as printed",
		"when it has received one message",
		"a root's failure",
		"spreads: by its figure 3",
		"within a millisecond: by its text",
	)
	check(t, r, report.Open, "how the measured times compare", "spread of five samples", "latency grows with the nodes that talk")
	if ours := r.Claims[0].Ours; !strings.Contains(ours, "506 by the distance model, with 511 nodes") || !strings.Contains(ours, "802 by the model, with 1023") {
		t.Errorf("figure 4 isn't judged by the torus that each job has: %s", ours)
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"figure-4", "figure-5", "figure-6", "figure-8", "scale", "arity"} {
		if _, err := os.Stat(filepath.Join(dir, name+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// TestMeasured: measurements get into the figures, and the claims judge them.
func TestMeasured(t *testing.T) {
	p := small()
	p.Measured, p.MeasuredBy = measure(func(m *Measurement) { m.Contention = 0 }), "an invention" // the model is that of figure 7
	p.Contended = machine.Contended
	r := result(t, p)
	check(t, r, report.Agrees, "the same measured", "the contention model does", "between two heights", "spread at 99 %", "qualifies for extrapolation", "one message down",
		"pairs are handled well", "rises from pairs", "being near-linear, 2", "being near-linear, 4", "being near-linear, pairs", "before the tree gets another level")
	names := map[string]bool{}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			names[f.Name] = true
			if !strings.HasPrefix(f.Name, "figure-6") {
				continue
			}
			for _, series := range f.Series {
				if series.Name == "measured here" && (len(series.Points) != 13 || math.Abs(series.Points[12].Y-float64(machine.Stabilise(46, 2))*1e6) > 1e-6) {
					t.Errorf("%d points, %v", len(series.Points), series.Points)
				}
			}
			if len(f.Series) != 5 {
				t.Errorf("figure 6 has %d series", len(f.Series))
			}
		}
	}
	if !names["measured-2"] || !names["measured-4"] || !names["figure-7"] {
		t.Errorf("a figure is missing: %v", names)
	}

	// Slow measurements, and some that don't follow the model.
	p.Measured = measure(func(m *Measurement) { m.Stabilise, m.Messages = 20e-3/risk.Seconds(m.Live), m.Messages+1 })
	p.Measured = append(p.Measured, Measurement{Live: 46, Arity: 2, Stabilise: 30e-3, Messages: 1}, Measurement{Live: 46, Arity: 2, Stabilise: 30e-3}, Measurement{Live: 46, Arity: 2, Stabilise: 30e-3}, Measurement{Live: 46, Arity: 2, Stabilise: 30e-3})
	// And a contention that rises too soon, the wrong way round and by no line.
	var odd []viewtime.Latency
	for _, children := range []int{1, 2, 4} {
		for n := 5; n <= 45; n += 5 {
			odd = append(odd, viewtime.Latency{Children: children, Nodes: n, Time: risk.Seconds(n*n*n) / risk.Seconds(children) * 1e-6})
		}
	}
	p.Contended, _ = viewtime.NewContended(odd)
	r = result(t, p)
	check(t, r, report.Differs, "pairs are handled well", "rises from pairs", "being near-linear", "qualifies for extrapolation")
	check(t, r, report.Differs, "over loopback TCP on this machine, 2", "the contention model does", "between two heights of the tree the time grows with the nodes, which LogP can't show, 4", "one message down")
}

// TestFew: a claim is open where there are too few measurements.
func TestFew(t *testing.T) {
	p := small()
	for _, live := range []int{3, 7, 15} {
		p.Measured = append(p.Measured, Measurement{Live: live, Arity: 2, Stabilise: machine.Stabilise(live, 2), Base: machine.Base(live, 2)})
	}
	check(t, result(t, p), report.Open, "spread at 99 %", "can't show, 2")
}

// TestMachine: two heights give the constants behind the base model.
func TestMachine(t *testing.T) {
	e := &experiment{Parameters: Parameters{Measured: measure(func(*Measurement) {})}}
	m, ok := e.machine()
	if !ok || math.Abs(float64(m.Latency-machine.Latency)) > 1e-12 || math.Abs(float64(m.Compute-machine.Compute)) > 1e-12 {
		t.Errorf("%v, %+v", ok, m)
	}
	e.Measured = e.Measured[:3] // of one height
	if _, ok := e.machine(); ok {
		t.Error("from a single height")
	}
}

// TestWorkers: the report doesn't depend on the number of workers.
func TestWorkers(t *testing.T) {
	var pages [2]string
	for i, workers := range []int{1, 5} {
		p := small()
		p.Workers = workers
		p.Measured = measure(func(*Measurement) {})
		dir := t.TempDir()
		if err := result(t, p).Write(dir); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = string(page)
	}
	if pages[0] != pages[1] {
		t.Error("the page depends on the workers")
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps := map[string]bool{}
	p := small()
	p.Workers = 1
	_, err := Run(ctx, nil, p, func(step string, done, total int) {
		steps[step] = true
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(steps) != 1 {
		t.Errorf("%v after %v", err, steps)
	}
}

func TestValidate(t *testing.T) {
	for _, p := range []Parameters{Quick(), Default(), Full()} {
		p.Workers = 1
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", p.Mode, err)
		}
	}
	for name, spoil := range map[string]func(*Parameters){
		"workers":     func(p *Parameters) { p.Workers = 0 },
		"runs":        func(p *Parameters) { p.Runs = 1 },
		"torus":       func(p *Parameters) { p.Torus = 1025 },
		"switch":      func(p *Parameters) { p.Switch = 3 },
		"largest":     func(p *Parameters) { p.Largest = 1 << 21 },
		"measurement": func(p *Parameters) { p.Measured = []Measurement{{Live: 3, Arity: 2, Stabilise: -1}} },
	} {
		p := small()
		if spoil(&p); p.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestResumed: a run that is interrupted again and again ends with the report of one that isn't,
// whatever was measured meanwhile. Other parameters are refused there.
func TestResumed(t *testing.T) {
	p := small()
	p.Torus, p.Switch, p.Largest, p.Faulty = 64, 24, 64, 4
	calls := 0
	want, err := Run(t.Context(), nil, p, func(string, int, int) { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for stops := 0; ; stops++ {
		if stops > 200 {
			t.Fatal("it doesn't get on")
		}
		store, err := Open(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		left := 1 + rand.IntN(calls)
		got, err := Run(ctx, store, p, func(string, int, int) {
			if left--; left == 0 {
				stop()
			}
		})
		stop()
		if failed := store.Close(); failed != nil {
			t.Fatal(failed)
		}
		if err == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the report is another after %d interruptions", stops)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("an interrupted run says %v", err)
		}
	}
	p.MeasuredFrom, p.Workers = "elsewhere", 1
	store, err := Open(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	p.Runs++
	if _, err := Open(dir, p); !errors.Is(err, pieces.ErrOther) {
		t.Errorf("other parameters: %v", err)
	}
}
