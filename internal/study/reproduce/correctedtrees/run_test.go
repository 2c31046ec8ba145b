package correctedtrees

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"banyan/internal/study/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a reproduction that takes a second, with fewer processes than the paper's.
func small(workers int) Parameters {
	return Parameters{
		Mode: "test", Seed: 3, Workers: workers, Procs: 1 << 13, Runs: 40, EngineRuns: 4, Sizes: []int{64, 1 << 13},
		Deaths: []int{8, 64}, NumberingRuns: 40, SearchRuns: 2, SafeRuns: 4,
	}
}

func reproduce(t *testing.T, dir string, p Parameters) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), dir, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	return r
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReproduction, end to end: every figure and table is there, its numbers are plausible, and
// the paper's exact values come out exactly. One worker and two write the same bytes.
func TestReproduction(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	r := reproduce(t, dir, small(2))
	reproduce(t, other, small(1))
	got, want := files(t, dir), files(t, other)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s depends on the number of workers", name)
		}
	}
	for _, name := range []string{"figure-1b", "figure-1b-more", "figure-8-opportunistic", "figure-9-opportunistic", "figure-6-distance-2", "figure-6-distance-4", "figure-7", "figure-8", "figure-9", "figure-10", "figure-14"} {
		for _, extension := range []string{".svg", ".png", ".csv"} {
			if got[name+extension] == "" {
				t.Errorf("no %s%s", name, extension)
			}
		}
	}
	exact := 0
	for _, c := range r.Claims {
		for _, what := range []string{"(lemma 2)", "(corollary 1)", "is within the bounds", "reaches every live process", "of an acknowledged tree", "coloring latency of corrected and acknowledged", "a single fault near the root"} {
			if strings.Contains(c.What, what) {
				exact++
				if c.Verdict != report.Agrees {
					t.Errorf("%s: %s: %s", c.What, c.Verdict, c.Ours)
				}
			}
		}
	}
	if exact != 7 {
		t.Errorf("%d exact claims", exact)
	}
	checkTable(t, got["figure-8.csv"], len(rates)*(len(trees)*(1+len(distances))+2), map[string][2]float64{"mean": {20, 120}, "deviation": {0, 30}, "fault_rate_percent": {0.01, 4}})
	checkTable(t, got["figure-9.csv"], len(rates)*(len(trees)*(1+len(distances))+2), map[string][2]float64{"mean": {3, 12}})
	checkTable(t, got["figure-8-opportunistic.csv"], len(distances)*len(trees)*len(rates), map[string][2]float64{"mean": {20, 120}, "p95": {20, 200}})
	checkTable(t, got["figure-9-opportunistic.csv"], len(distances)*len(trees)*len(rates), map[string][2]float64{"mean": {2, 12}})
	checkTable(t, got["figure-1b.csv"], 2*3, map[string][2]float64{"mean": {8, 8192}, "p10": {8, 8192}, "broadcasts": {40, 8191}})
	checkTable(t, got["figure-1b-more.csv"], 2*3*5, map[string][2]float64{"mean": {8, 8192}, "p90": {8, 8192}, "broadcasts": {40, 40}})
	checkTable(t, got["gossip-safety.csv"], len(gossipCorrections), map[string][2]float64{"messages per process": {5, 20}, "binomial": {1.9, 9}, "safe time": {20, 60}})
	checkTable(t, got["figure-7.csv"], 2*(5*len(trees)+1), map[string][2]float64{"mean": {15, 130}})
	checkTable(t, got["figure-14.csv"], 2*(5*len(trees)+1), map[string][2]float64{"mean": {14, 65}})
	checkTable(t, got["figure-6-distance-2.csv"], 2*(4*len(trees)+2), map[string][2]float64{"messages_per_process": {0.98, 12}})
	checkTable(t, got["table-1.csv"], 30, map[string][2]float64{"ours": {0, 120}, "broadcasts": {160, 160}})
	checkTable(t, got["uncoloured.csv"], len(distances)*len(trees)*len(rates), map[string][2]float64{"1": {0, 4}, "4 or more": {0, 0}})
	checkTable(t, got["figure-10.csv"], -1, map[string][2]float64{"g_max": {0, 100}, "l_scc": {8, 200}})
}

// checkTable checks that a CSV parses, its number of rows, and that columns are in bounds.
func checkTable(t *testing.T, text string, rows int, bounds map[string][2]float64) {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) < 2 {
		t.Errorf("%d lines (%v)", len(lines), err)
		return
	}
	if rows >= 0 && len(lines)-1 != rows {
		t.Errorf("%v: %d rows, want %d", lines[0], len(lines)-1, rows)
	}
	checked := 0
	for i, column := range lines[0] {
		b, ok := bounds[column]
		if !ok {
			continue
		}
		checked++
		for _, line := range lines[1:] {
			if v, err := strconv.ParseFloat(line[i], 64); err != nil || v < b[0] || v > b[1] {
				t.Errorf("%s is %s, want %g to %g: %v", column, line[i], b[0], b[1], line)
			}
		}
	}
	if checked != len(bounds) {
		t.Errorf("only %d of the columns %v are there", checked, bounds)
	}
}

// TestInterrupted: what was simulated along trees stays, and the report is the same as without
// the interruption.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	p := small(2)
	p.Sizes = []int{64}
	ctx, stop := context.WithCancel(context.Background())
	_, err := Run(ctx, dir, p, func(step string, done, total int) {
		if step == "checked correction" && done > total/2 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run says %v", err)
	}
	begun, err := os.ReadFile(filepath.Join(dir, "runs", "checked.csv"))
	if err != nil || len(begun) == 0 {
		t.Fatalf("nothing is kept (%v)", err)
	}
	resumed, err := Run(context.Background(), dir, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	want, err := Run(context.Background(), other, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(resumed, want) {
		t.Error("the report is another after an interruption")
	}
	all := files(t, other)
	for name, content := range files(t, dir) {
		if content != all[name] {
			t.Errorf("%s is another after an interruption", name)
		}
	}
	if !strings.HasPrefix(all["runs/checked.csv"], string(begun)) {
		t.Error("the kept results are no beginning of all")
	}
}

// TestForeignResults: results for other parameters stay as they are.
func TestForeignResults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs", "numberings.csv")
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := small(2)
	p.Sizes = []int{64}
	if _, err := Run(context.Background(), dir, p, nil); err == nil || !strings.Contains(err.Error(), "not the results of a campaign") {
		t.Errorf("a foreign file: %v", err)
	}
	if got := files(t, dir)["runs/numberings.csv"]; got != "a,b\n1,2\n" {
		t.Errorf("it is %q now", got)
	}
}

func TestBadParameters(t *testing.T) {
	for name, spoil := range map[string]func(*Parameters){
		"workers": func(p *Parameters) { p.Workers = 0 },
		"procs":   func(p *Parameters) { p.Procs = 100 },
		"runs":    func(p *Parameters) { p.SafeRuns = 0 },
		"sizes":   func(p *Parameters) { p.Sizes = nil },
	} {
		p := small(1)
		spoil(&p)
		if _, err := Run(context.Background(), t.TempDir(), p, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), file, small(1), nil); err == nil {
		t.Error("a file passes for a directory")
	}
}

// TestDeadAt: rates are rounded to the nearest number of processes.
func TestDeadAt(t *testing.T) {
	want := []int{7, 66, 655, 1311, 2621}
	for i, rate := range rates {
		if got := deadAt(rate, 1<<16); got != want[i] {
			t.Errorf("%g %%: %d dead, want %d", rate, got, want[i])
		}
		if got := deadBelow(rate, 1<<16); got != want[i] && got != want[i]-1 {
			t.Errorf("%g %%: %d dead rounded down", rate, got)
		}
	}
}
