package correctedtrees

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/study/pieces"
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

// tiny takes a tenth of that.
func tiny() Parameters {
	return Parameters{
		Mode: "test", Seed: 3, Workers: 2, Procs: 1 << 10, Runs: 10, EngineRuns: 3, Sizes: []int{64},
		Deaths: []int{8}, NumberingRuns: 10, SearchRuns: 2, SafeRuns: 4,
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

// TestInterrupted: a run that is interrupted again and again, anywhere, ends with the files of one
// that isn't.
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
		left := 1 + rand.IntN(calls/3)
		if stops >= 20 {
			left += calls // what can't be cut may take longer than the times before
		}
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
	sameFiles(t, dir, other)
}

func sameFiles(t *testing.T, dir, other string) {
	t.Helper()
	got, want := files(t, dir), files(t, other)
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s is another after interruptions", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files after interruptions, want %d", len(got), len(want))
	}
}

// TestKilled kills processes at random moments, and lets the next go on. The last one ends with
// the files of an undisturbed run.
func TestKilled(t *testing.T) {
	p := tiny()
	if dir := flag.Arg(0); dir != "" { // one of the processes
		reproduce(t, dir, p)
		return
	}
	dir, other := t.TempDir(), t.TempDir()
	began := time.Now()
	reproduce(t, other, p)
	takes := time.Since(began)
	for kills := 0; ; kills++ {
		if kills > 50 {
			t.Fatal("it doesn't get on")
		}
		process := exec.Command(os.Args[0], "-test.run=^TestKilled$", "--", dir)
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(takes*time.Duration(20+rand.IntN(80))/100, func() { _ = process.Process.Kill() }) // it may have ended
		err := process.Wait()
		killer.Stop()
		if err == nil {
			t.Logf("after %d kills", kills)
			break
		}
		if process.ProcessState.Exited() {
			t.Fatalf("it failed: %v", err)
		}
	}
	sameFiles(t, dir, other)
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
	if _, err := Run(context.Background(), dir, p, nil); err == nil || !strings.Contains(err.Error(), "choose another directory") {
		t.Errorf("results of nobody knows what: %v", err)
	}
	if got := files(t, dir)["runs/numberings.csv"]; got != "a,b\n1,2\n" {
		t.Errorf("it is %q now", got)
	}
}

// TestOtherParameters: a directory with results of other parameters is refused, with what differs.
// The number of workers may be another.
func TestOtherParameters(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	p := small(2)
	_, err := Run(ctx, dir, p, func(string, int, int) { stop() })
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p.Workers = 1
	if _, err := Run(ctx, dir, p, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("another number of workers: %v", err)
	}
	p.Seed++
	if _, err := Run(t.Context(), dir, p, nil); !errors.Is(err, pieces.ErrOther) || !strings.Contains(err.Error(), "Seed is 3 there, and 4 here") {
		t.Errorf("another seed: %v", err)
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
