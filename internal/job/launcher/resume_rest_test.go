package launcher

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/fault"
)

// A planned fault whose time comes at the next launcher strikes there, and the trace that the first
// one has begun is merged.
func TestResumeFaultsAndTrace(t *testing.T) {
	t.Parallel()
	plan, err := fault.Parse("kill rank=1 replica=1 at=1s")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := newRelayed(t, 2)
	const n = 400
	r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2), Faults: plan, Trace: filepath.Join(dir, "run.jsonl")}, "rounds", "400", "5ms")
	r.await(1, 200)
	r.loseLauncher()
	r.resume()
	r.noted("rank 1 replica 1")
	report := r.end()
	r.check(report, 2, n)
	if len(report.Faults) != 1 || report.Faults[0].Injected == nil || len(report.Deaths) != 1 || report.Deaths[0].Process != 3 {
		t.Errorf("faults %+v, deaths %+v", report.Faults, report.Deaths)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "run.jsonl" {
		t.Errorf("%v %v, notes %q", entries, err, r.notes.String())
	}
}

// The rest of the input is lost with its launcher. The program finds its end there, and the user is
// told.
func TestResumeWithoutInput(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go out.Write([]byte("some input"))
	defer out.Close()
	r := newRelayed(t, 2)
	r.stdin, r.lost = in, errors.New("it was a pipe")
	r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2)}, "rounds", "200", "5ms")
	r.await(1, 1000)
	r.loseLauncher()
	r.resume()
	report := r.end()
	r.check(report, 2, 200)
	if !strings.Contains(strings.Join(report.Warnings, "\n"), "the job's input is lost from byte 10 on, and ends there for the program: it was a pipe") || len(report.Deaths) > 0 {
		t.Errorf("warnings %q, deaths %+v", report.Warnings, report.Deaths)
	}
}
