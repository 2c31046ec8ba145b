package failuredetector

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
)

// small is a reproduction that takes a second.
func small() Parameters {
	return Parameters{
		Mode: "quick", Seed: 1, Workers: 2, Runs: 1000, Sizes: []int{16, 64, 1024, 16384, fullSize},
		Machines: []Share{{16, 20, 20}, {100, 5, 5}, {512, 1, 2}},
		Probed:   []int{1000, 20000}, ProbingRuns: 20, Quiet: 1000,
		Several: []SeveralShare{{128, 3}},
	}
}

// TestRun: the report says which claims hold, by name. Those left out are Open with so few
// runs.
func TestRun(t *testing.T) {
	r, err := Run(context.Background(), "", small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	differs := []string{
		"largest δ at 256,000 nodes, μ = 45 years",
		"delays the first's detection by another δ",
		"a further failure delays completion by δ/2",
		"failures overlap",
		"1/e, its limit",
		"rounds after which all nodes have been probed",
		"the ring detects a failure in one message time",
		"two broadcasts at a time take hardly longer",
	}
	agrees := []string{
		"largest δ at 256,000 nodes, μ = 20 years",
		"the first failure is known δ − η/2 after it struck",
		"at small sizes it takes longer",
		"it takes longer the larger the system",
		"T(f) bounds the time",
		"the abstraction (no heartbeats",
		"all know of the first failure after a constant time",
		"failures until the configuration is stable",
		"time until all know of all",
		"a broadcast takes at most 4τ log n",
		"messages in a period",
		"p(N), the probability",
		"nodes that nobody probes",
		"rounds x with p(N)^x",
		"rounds until all are probed, on average, 20,000 nodes",
		"victims that strike at once are known after δ",
		"with random phases it is δ − η/2",
		"T(f) bounds the time to a stable configuration, also for neighbours",
		"neighbours that strike at once are found one after the other",
		"four take longer, and eight much longer",
		"f failures begin at most f(f+1)/2 broadcasts",
		"an agreement without failures",
		"it ends in less than 1.5 ms although members fail",
		"it takes fifty times as long if a service tells",
	}
	check := func(names []string, want report.Verdict) {
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
	check(differs, report.Differs)
	check(agrees, report.Agrees)
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"3", "4a", "4b", "5", "5-failures", "6", "7", "10-left", "10-centre", "10-right"} {
		if _, err := os.Stat(filepath.Join(dir, "figure-"+name+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// TestWorkers: the report doesn't depend on the number of workers.
func TestWorkers(t *testing.T) {
	p := tiny()
	var pages [2]string
	for i, workers := range []int{1, 5} {
		p.Workers = workers
		r, err := Run(context.Background(), "", p, nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
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

// tiny is a reproduction that takes a tenth of a second.
func tiny() Parameters {
	p := small()
	p.Runs, p.Machines, p.Probed, p.ProbingRuns, p.Several, p.Quiet = 20, []Share{{16, 3, 3}}, []int{1000}, 120, []SeveralShare{{32, 2}}, 200
	p.Sizes = []int{16, 32, 64, 128}
	return p
}

// TestInterrupted: a run that is interrupted again and again, anywhere, ends with the report of
// one that isn't, and with the same pieces. Other parameters are refused there.
func TestInterrupted(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	p := tiny()
	calls := 0
	want, err := Run(t.Context(), other, p, func(string, int, int) { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	for stops := 0; ; stops++ {
		if stops > 200 {
			t.Fatal("it doesn't get on")
		}
		ctx, stop := context.WithCancel(t.Context())
		left := 1 + rand.IntN(calls)
		got, err := Run(ctx, dir, p, func(string, int, int) {
			if left--; left == 0 {
				stop()
			}
		})
		stop()
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
	if without, err := Run(t.Context(), "", p, nil); err != nil || !reflect.DeepEqual(without, want) {
		t.Errorf("the report is another if nothing is kept (%v)", err)
	}
	all, err := filepath.Glob(filepath.Join(other, "*"))
	if err != nil || len(all) < 20 {
		t.Errorf("%d pieces (%v)", len(all), err)
	}
	for _, path := range all {
		a, err := os.ReadFile(path)
		b, err2 := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another after interruptions (%v)", filepath.Base(path), err)
		}
	}
	p.Seed++
	if _, err := Run(t.Context(), dir, p, nil); !errors.Is(err, pieces.ErrOther) {
		t.Errorf("another seed: %v", err)
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
		"workers":       func(p *Parameters) { p.Workers = 0 },
		"runs":          func(p *Parameters) { p.Runs = 1 },
		"sizes":         func(p *Parameters) { p.Sizes = []int{8, 16} },
		"small":         func(p *Parameters) { p.Sizes[0] = 4 },
		"machines":      func(p *Parameters) { p.Machines[0].Forced = 0 },
		"several":       func(p *Parameters) { p.Several[0].Runs = 1 },
		"more machines": func(p *Parameters) { p.Machines[0].Random = p.Runs + 1 },
	} {
		p := small()
		if spoil(&p); p.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
