package campaign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"banyan/internal/study/driver/logp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// varied and nodes set what small leaves out.
const varied = `
runs: 2
procs: 40
tree: [binomial, kary:4, gossip:14, gossip-rounds:5]
correction: [none, checked, opportunistic:0:3, optimized:2, failure-proof]
failed: [0, 10%]
`

const nodes = `
runs: 2
procs: 40
node_size: [0, 8]
placement: [consecutive, shuffled, striped]
latency_within: 1
crashes: [0, 3]
gap: [0, 3]
noise: [0, 2]
correction: [checked, delayed:8]
`

const small = `
seed: 7
runs: 5
procs: [64, 100]
tree: [binomial, kary:4, optimal]
correction: [none, checked, optimized:2]
start: [synchronized, overlapped]
failed: [0, 3, 10%]
`

func parse(t *testing.T, text string) *Spec {
	t.Helper()
	s, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// results runs a spec anew and returns the file's content.
func results(t *testing.T, s *Spec, workers int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results.csv")
	if err := s.Run(context.Background(), path, workers, nil); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPoints: every combination appears once; a correction that has no start isn't combined
// with starts.
func TestPoints(t *testing.T) {
	s := parse(t, small)
	if want := 2 * 3 * (1 + 2 + 2) * 3; len(s.Points) != want {
		t.Errorf("%d points, want %d", len(s.Points), want)
	}
	// Without nodes it doesn't matter how processes are placed on them.
	if n, want := len(parse(t, nodes).Points), (1+3)*2*2*2*2; n != want {
		t.Errorf("%d points with nodes, want %d", n, want)
	}
	text := results(t, s, 2)
	if n := strings.Count(text, "\n"); n != 1+s.Total() {
		t.Errorf("%d lines for %d broadcasts", n, s.Total())
	}
	for _, part := range []string{
		"\n64,2,1,binomial,,interleaved,none,,-,0,,,,,,,,,0,0,0,", "\n100,2,1,kary,4,interleaved,optimized,2,overlapped,10,,,,,,,,,0,0,4,",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no line with %q", part)
		}
	}
}

// TestEqualsEngine: each line is what the engine returns for the seed on it.
func TestEqualsEngine(t *testing.T) {
	for _, text := range []string{small, varied, nodes} {
		s := parse(t, text)
		lines := strings.Split(results(t, s, 2), "\n")
		var engine logp.Simulator
		crashed := 0
		for row := range s.Total() {
			p, run := s.at(row)
			seed := s.seed(p, run)
			c := p.Case
			if c.Tree == logp.Gossip {
				c.Gossip.Seed = seed
			}
			c.Model.NoiseSeed, c.Model.Nodes.Seed = seed, seed
			if err := c.FailRandom(p.Dead, rand.NewPCG(seed, 0)); err != nil {
				t.Fatal(err)
			}
			if p.DeadNodes > 0 {
				if err := c.FailNodes(p.DeadNodes, rand.NewPCG(seed, 1)); err != nil {
					t.Fatal(err)
				}
			}
			until, err := engine.Undisturbed(p.Case)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.CrashRandom(p.Crashes, until, rand.NewPCG(seed, 2)); err != nil {
				t.Fatal(err)
			}
			o, err := engine.Run(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			crashed += o.Crashed
			if want := strings.TrimSuffix(s.line(row, o), "\n"); lines[row+1] != want {
				t.Fatalf("%s, want %s", lines[row+1], want)
			}
		}
		if text == nodes && crashed == 0 {
			t.Error("nobody ever crashed")
		}
	}
}

// TestWorkers: the number of workers doesn't matter.
func TestWorkers(t *testing.T) {
	s := parse(t, small)
	want := results(t, s, 1)
	for _, workers := range []int{2, 3, 16} {
		if got := results(t, s, workers); got != want {
			t.Errorf("%d workers write something else", workers)
		}
	}
}

// TestResume: at (nearly) every point at which a campaign was killed, it ends with the same
// file.
func TestResume(t *testing.T) {
	s := parse(t, "runs: 4\nprocs: 32\nfailed: [0, 1, 5]\n")
	want := results(t, s, 2)
	path := filepath.Join(t.TempDir(), "results.csv")
	for size := 0; size <= len(want); size += 7 { // in a row as well as between two rows
		if err := os.WriteFile(path, []byte(want[:size]), 0o666); err != nil {
			t.Fatal(err)
		}
		before := -1
		err := s.Run(context.Background(), path, 2, func(done, total int) {
			if before < 0 && done != max(0, strings.Count(want[:size], "\n")-1) || done < before || total != 12 {
				t.Errorf("%d bytes: progress %d of %d after %d", size, done, total, before)
			}
			before = done
		})
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if before != 12 {
			t.Errorf("%d bytes: progress ends at %d", size, before)
		}
		if got := read(t, path); got != want {
			t.Fatalf("from %d bytes:\n%s\nwant\n%s", size, got, want)
		}
	}
}

// TestTornLine: nothing stays of an incomplete line, however long it is.
func TestTornLine(t *testing.T) {
	s := parse(t, "runs: 4\nprocs: 32\n")
	want := results(t, s, 2)
	path := filepath.Join(t.TempDir(), "results.csv")
	if err := os.WriteFile(path, []byte(header+strings.Repeat("7", len(want))), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), path, 2, nil); err != nil || read(t, path) != want {
		t.Errorf("%v\n%s", err, read(t, path))
	}
}

// TestStop: a campaign that is stopped leaves complete lines, and can go on.
func TestStop(t *testing.T) {
	s := parse(t, "runs: 3000\nprocs: 64\nfailed: 3\n")
	want := results(t, s, 2)
	path := filepath.Join(t.TempDir(), "results.csv")
	stopped := errors.New("stopped")
	for range 3 {
		ctx, stop := context.WithCancelCause(context.Background())
		calls := 0
		err := s.Run(ctx, path, 2, func(int, int) {
			if calls++; calls == 3 {
				stop(stopped)
			}
		})
		if got := read(t, path); !strings.HasPrefix(want, got) || !strings.HasSuffix(got, "\n") {
			t.Fatal("what is left is no beginning of the results")
		}
		if err != nil && !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		stop(nil)
	}
	if err := s.Run(context.Background(), path, 2, nil); err != nil || read(t, path) != want {
		t.Errorf("in the end something else is there (%v)", err)
	}
}

// TestForeignFile: a file with other results isn't changed.
func TestForeignFile(t *testing.T) {
	s := parse(t, "runs: 2\nprocs: 32\n")
	good := results(t, s, 1)
	lines := strings.SplitAfter(good, "\n")
	for _, c := range []struct{ text, want string }{
		{"letter to my aunt", "line 1: not the results of a campaign"},
		{"a,b\n1,2\n", "line 1: not the results of a campaign"},
		{strings.Replace(good, "binomial", "optimal", 1), "line 2: the spec wants 32,2,1,binomial"},
		{good + lines[2], "line 4: the spec ends at line 3"},
		{lines[0] + lines[2], "line 2: the spec wants"},
		{strings.TrimSuffix(good, "\n") + "x\n", "line 3: damaged"},
	} {
		path := filepath.Join(t.TempDir(), "results.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := s.Run(context.Background(), path, 1, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
		}
		if read(t, path) != c.text {
			t.Errorf("%.20q was changed", c.text)
		}
	}
}

// TestOneWriter: two campaigns don't write to one file.
func TestOneWriter(t *testing.T) {
	s := parse(t, "runs: 2\nprocs: 32\n")
	path := filepath.Join(t.TempDir(), "results.csv")
	file, _, err := s.open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := s.Run(context.Background(), path, 1, nil); err == nil || !strings.Contains(err.Error(), "another campaign") {
		t.Error(err)
	}
}

// TestBadSpecs: errors name the line and the field.
func TestBadSpecs(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "empty",
		"# nothing\n":                       "empty",
		"- 1\n":                             "line 1: want fields",
		"runs: 1\n":                         "procs: is missing",
		"procs: 8\n":                        "runs: is missing",
		"runs: 0\nprocs: 8\n":               `line 1: runs: "0": want a number from 1 on`,
		"runs: [1, 2]\nprocs: 8\n":          "line 1: runs: want one value",
		"runs: 1\nprocs: 8\nseed: -1\n":     `line 3: seed: "-1": want 0 to`,
		"runs: 1\nprocs: 0\n":               "line 2: procs: 0: want 1 to",
		"runs: 1\nprocs: many\n":            `line 2: procs: "many" is no number`,
		"runs: 1\nprocs: []\n":              "line 2: procs: an empty list",
		"runs: 1\nprocs: {a: 1}\n":          "line 2: procs: want a value",
		"runs: 1\nprocs: 8\nprocs: 9\n":     "line 3",
		"runs: 1\nprocs: 8\npROCS: 9\n":     `line 3: unknown field "pROCS"`,
		"runs: 1\nprocs: 8\no: 0\n":         "line 3: o: overhead 0",
		"runs: 1\nprocs: 8\nL: -1\n":        "line 3: L: latency -1",
		"runs: 1\nprocs: 8\ntree: oak\n":    `line 3: tree: unknown tree "oak"`,
		"runs: 1\nprocs: 8\ntree: kary\n":   "line 3: tree: 0: a kary tree wants",
		"runs: 1\nprocs: 8\ntree: kary:0\n": "line 3: tree: ",
		"runs: 1\nprocs: 8\ncorrection:\n - checked\n - magic\n": `line 5: correction: unknown correction "magic"`,
		"runs: 1\nprocs: 8\ncorrection: optimized:8\n":           "line 3: correction: correction distance 8",
		"runs: 1\nprocs: 8\nstart: soon\n":                       `line 3: start: unknown start "soon"`,
		"runs: 1\nprocs: 8\nnumbering: odd\n":                    "line 3: numbering: unknown numbering",
		"runs: 1\nprocs: 8\nfailed: 8\n":                         `line 3: failed: "8": want 0 to 7 of 8`,
		"runs: 1\nprocs: 8\nfailed: 100%\n":                      "line 3: failed: ",
		"runs: 1\nprocs: 8\nfailed: NaN%\n":                      "line 3: failed: ",
		"runs: 1\nprocs: 8\nfailed: -1%\n":                       "line 3: failed: ",
		"runs: 1\nprocs: 8\nfailed: x%\n":                        "line 3: failed: ",
		"runs: 1\nprocs: 8\ntree: gossip\n":                      "line 3: tree: 0: gossip wants a time",
		"runs: 1\nprocs: 8\ntree: gossip:0\n":                    "line 3: tree: ",
		"runs: 1\nprocs: 8\ntree: gossip-rounds:99\n":            "line 3: tree: 99: want 1 to",
		"runs: 1\nprocs: 8\ncorrection: optimized:1:x\n":         "line 3: correction: ",
		"runs: 1\nprocs: 8\ncorrection: checked:2\n":             "line 3: correction: 2: correction checked has none",
		"runs: 1\nprocs: 8\ncorrection: delayed:-1\n":            "line 3: correction: ",
		"runs: 1\nprocs: 8\no: 2\ngap: 1\n":                      "line 4: gap: gap 1",
		"runs: 1\nprocs: 8\nnode_size: 9\n":                      "line 3: node_size: 9: want",
		"runs: 1\nprocs: 8\nplacement: odd\n":                    "line 3: placement: ",
		"runs: 1\nprocs: 8\nlatency_within: 1\n":                 "line 3: latency_within: 1: there are no nodes",
		"runs: 1\nprocs: 8\nfailed_nodes: 1\n":                   "line 3: failed_nodes: 1: there are no nodes",
		"runs: 1\nprocs: 8\nnode_size: 4\nfailed_nodes: 2\n":     "line 4: failed_nodes: 2: want 0 to 1",
		"runs: 1\nprocs: 8\nnoise: -1\n":                         "line 3: noise: -1",
		"runs: 1\nprocs: 8\nfailed: 3\ncrashes: 5\n":             "line 4: crashes: 5 of 8",
		"runs: 1\nprocs: 8\nL: [" + strings.Repeat("1, ", 999) + "2]\nnoise: [" + strings.Repeat("1, ", 999) + "2]\n": "line 4: noise: more than 262144 combinations",
		"runs: 1\nprocs: [8\n":                                  "line",
		"runs: 9223372036854775807\nprocs: 8\nfailed: [0, 1]\n": "line 1: runs: 9223372036854775807 of 2 points",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse: no spec crashes the parser, and a spec that it accepts has valid points.
func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("runs: 1\nprocs: &a 8\nfailed: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, p := range s.Points {
			if err := p.Case.Validate(); err != nil || p.Dead < 0 || p.Dead >= p.Case.Procs {
				t.Fatalf("%+v: %v", p, err)
			}
		}
	})
}

// BenchmarkPaper is a slice of the paper's campaign on one worker, including the choice of the
// dead and the writing.
func BenchmarkPaper(b *testing.B) {
	s, err := Parse(strings.NewReader(fmt.Sprintf(
		"runs: %d\nprocs: 65536\ntree: [binomial, kary:4, lame:2, optimal]\nfailed: [0.01%%, 0.1%%, 1%%, 2%%, 4%%]\n", max(1, b.N/20))))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "results.csv")
	b.ResetTimer()
	if err := s.Run(context.Background(), path, 1, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(s.Total()), "ms/broadcast")
}
