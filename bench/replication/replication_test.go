package replication

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/bench/peers"
	"banyan/internal/study/ratio"
	"banyan/internal/testing/scratch"
)

// built is the directory that programs has made.
var built *scratch.Directory

// programs builds the command and a program, once.
var programs = sync.OnceValues(func() (bin string, err error) {
	if built, err = scratch.Make(); err != nil {
		return "", err
	}
	return built.Path, built.Build("banyan/cmd/banyan", "banyan/examples/multigrid")
})

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// tools is a bench of those programs.
func tools(t *testing.T) (b *Bench, bin string) {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	banyan := filepath.Join(bin, "banyan")
	b = &Bench{Banyan: banyan, Role: []string{banyan, "bench", "replication-role"}, Ranks: 2, Replicas: 2, Rounds: 1, Quick: true, Limit: DefaultLimit, Dir: t.TempDir()}
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	return b, bin
}

// TestRuns measures a little of everything that doesn't need the C library.
func TestRuns(t *testing.T) {
	b, bin := tools(t)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	reported := 0
	b.Progress = func() { reported++ }

	languages, err := b.Languages(ctx, "")
	if err != nil || len(languages) != 1 {
		t.Fatal(languages, err)
	}
	pings, err := b.PingPongs(ctx, languages, []int{8})
	if err != nil || len(pings) != 1 {
		t.Fatal(pings, err)
	}
	for s, x := range pings[0].Times {
		if Setting(s) != Each && (!(x.Median > 0) || !(pings[0].Ratios[s].Median > 0)) {
			t.Errorf("ping-pong, %v: %v ns, ratio %v", Setting(s), x, pings[0].Ratios[s])
		}
	}
	if reported != int(Each) {
		t.Errorf("%d jobs reported, want %d", reported, Each)
	}

	solver := Application{Name: "multigrid", Command: []string{filepath.Join(bin, "multigrid"), "-points", "7"}}
	runs, err := b.Runs(ctx, []Application{solver})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	for what, c := range map[string]Cost{"elapsed": runs[0].Elapsed, "cpu": runs[0].CPU} {
		if !(c.Ratios[Parallel].Ratio > 0) || c.Ratios[Beside].Ratio != 1 || !(c.Seconds[Verified].Median > 0) {
			t.Errorf("%s: %+v", what, c)
		}
	}

	b.Ranks = 3
	broadcasts, err := b.Broadcasts(ctx, []int{8})
	if err != nil || len(broadcasts) != 1 || broadcasts[0].Procs != 6 || !(broadcasts[0].Ratio.Median > 0) {
		t.Fatal(broadcasts, err)
	}
	// The measured numbers are those that the processes report.
	traced := filepath.Join(t.TempDir(), "trace")
	for s, ranks := range map[Setting]int{Alone: 6, Parallel: 3} {
		if _, err := b.timed(ctx, s, ranks, []string{"--trace", traced}, b.broadcaster(), BroadcastSizes()[3], 10); err != nil {
			t.Fatal(err)
		}
		if frames, err := os.ReadFile(traced); err != nil || strings.Contains(string(frames), `"kind":"tree"`) != (s == Alone) {
			t.Errorf("%v: corrected trees, or none: %v", s, err)
		}
	}
	b.Ranks = 2
	if _, err := b.Broadcasts(ctx, []int{8}); err == nil {
		t.Error("broadcasts of four processes are measured, which aren't over corrected trees")
	}

	// A rank without replicas sends to both replicas of the other, and acknowledges to the second.
	frames, err := b.Frames(ctx, []Application{solver})
	if err != nil || len(frames) != 4 {
		t.Fatal(frames, err)
	}
	for i, f := range frames {
		if f.Partial != (i%2 == 1) || f.Acknowledgements == 0 || f.Shareable > 0 != f.Partial {
			t.Errorf("%+v", f)
		}
	}
	if turns := 4 * framesTurns * 11 / 10; frames[0].Data < turns || frames[0].Data > turns+100 {
		t.Errorf("%d messages of 2 replicas of 2 ranks, want %d and those of barriers", frames[0].Data, turns)
	}

	pauses, err := b.Pauses(ctx, []string{"shm"}, 1, 1)
	if err != nil || len(pauses) != 2 {
		t.Fatal(pauses, err)
	}
	for _, p := range pauses {
		if !(p.Milliseconds.Median > 0) || p.Longest != p.Milliseconds.Median {
			t.Errorf("%s: %+v", p.Protocol, p)
		}
	}

	heals, err := b.Healings(ctx, []int{1 << 16}, 1, 1)
	if err != nil || len(heals) != 1 {
		t.Fatal(heals, err)
	}
	if h := heals[0]; !(h.Pause.Median > 0) || !(h.Until.Median > 0) {
		t.Errorf("%+v", h)
	}
	if left, err := os.ReadDir(b.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if len(Figures("Go", pings)) != 2 {
		t.Error("want two figures")
	}
	for _, f := range Figures("Go", pings) {
		if _, err := f.SVG(); err != nil {
			t.Error(err)
		}
	}
}

// The library is built for it, without its profile: package capi/test has compiled the same.
func TestInstructions(t *testing.T) {
	prefix := t.TempDir()
	build := exec.CommandContext(t.Context(), "../../scripts/library.sh", prefix)
	build.Env = append(os.Environ(), "PROFILE=off", "KEPT="+scratch.KeptDir)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("scripts/library.sh: %v\n%s", err, out)
	}
	bin := filepath.Join(prefix, "bin")
	b := &Bench{Replicas: 2, Limit: DefaultLimit, Dir: t.TempDir()}
	rows, err := b.Instructions(t.Context(), bin, []int{8})
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := rows[0]
	if c.Lane < 100 || c.Alone <= c.Lane || c.Behind <= c.Alone || c.Ahead <= c.Behind || c.Mirror <= c.Alone || c.Ahead > 2*c.Alone {
		t.Errorf("instructions: %+v", c)
	}
}

// A program that prints another result with replicas is detected, and so is one that fails.
func TestFaultyApplications(t *testing.T) {
	b, bin := tools(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	env := Application{Name: "env", Command: []string{"sh", "-c", filepath.Join(bin, "multigrid") + ` -points 7; echo "$BANYAN_REPLICAS"`}}
	if _, err := b.Runs(ctx, []Application{env}); !errors.Is(err, errOutput) {
		t.Errorf("another output: %v", err)
	}
	env.Varies = true
	if _, err := b.Runs(ctx, []Application{env}); !errors.Is(err, errOutput) {
		t.Errorf("another output, of a program that varies elsewhere: %v", err)
	}
	env.Command[2] = filepath.Join(bin, "multigrid") + " -points 7; echo pid $$"
	if _, err := b.Runs(ctx, []Application{env}); err != nil {
		t.Errorf("an output that varies without replicas, too: %v", err)
	}
	bad := Application{Name: "bad", Command: []string{filepath.Join(bin, "multigrid"), "-points", "8"}}
	if _, err := b.Runs(ctx, []Application{bad}); err == nil || !strings.Contains(err.Error(), "bad, side by side") {
		t.Errorf("a program that fails: %v", err)
	}
}

// The processor time of jobs is that of their processes, not only of the launchers.
func TestProcessorTime(t *testing.T) {
	b, _ := tools(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	used := func(turns int) time.Duration {
		loop := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done", turns)
		_, cpu, _, err := b.run(ctx, Beside, Application{Name: "loop", Command: []string{"sh", "-c", loop}})
		if err != nil {
			t.Fatal(err)
		}
		return cpu
	}
	const turns = 300_000
	alone := exec.Command("sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); done", turns))
	if err := alone.Run(); err != nil {
		t.Fatal(err)
	}
	one := alone.ProcessState.UserTime() + alone.ProcessState.SystemTime()
	if more := used(turns) - used(1); more < 2*one { // two jobs of two processes
		t.Errorf("four processes have taken %v, one of them takes %v", more, one)
	}
}

// Settings that aren't asked for aren't run, and every second round reverses the order.
func TestSettings(t *testing.T) {
	b := &Bench{}
	for _, c := range []struct {
		only  []Setting
		first Setting
		round int
		want  string
	}{
		{nil, Alone, 0, "[alone side by side parallel mirror verified]"},
		{nil, Beside, 1, "[verified mirror parallel side by side]"},
		{[]Setting{Parallel}, Beside, 2, "[side by side parallel]"},
		{[]Setting{Each}, Alone, 2, "[alone side by side each]"},
		{[]Setting{Verified, Parallel}, Alone, 3, "[verified parallel side by side alone]"},
	} {
		b.Settings = c.only
		if got := fmt.Sprint(ratio.InTurn(b.Measured(c.first), c.round)); got != c.want {
			t.Errorf("only %v, round %d: %s, want %s", c.only, c.round, got, c.want)
		}
	}
	if figures := Figures("C", []PingPong{{Language: "C", Bytes: 8, Times: partly()}}); len(figures[0].Series) != 2 {
		t.Errorf("%d series of two settings", len(figures[0].Series))
	}
}

// partly are times of two settings.
func partly() [settings]peers.Spread {
	var s series
	s.add(Beside, 10)
	s.add(Mirror, 11)
	times, _ := s.spreads()
	return times
}

// Jobs side by side have the cores that their processes have as replicas.
func TestPlacement(t *testing.T) {
	b := &Bench{Banyan: "banyan", Replicas: 2, cores: []int{0, 1, 4, 5, 6, 7}}
	is := func(jobs [][]string, ends ...string) {
		t.Helper()
		if len(jobs) != len(ends) {
			t.Fatalf("%d jobs: %q", len(jobs), jobs)
		}
		for i, end := range ends {
			if got := strings.Join(jobs[i], " "); !strings.HasSuffix(got, end) {
				t.Errorf("%q, want …%q", got, end)
			}
		}
	}
	is(b.jobs(Beside, 2, []string{"--flag"}, "program", "x"),
		"-n 2 --flag --bind-to 0,1 env BANYAN_CORES=3 program x", "-n 2 --flag --bind-to 4,5 env BANYAN_CORES=3 program x")
	is(b.jobs(Mirror, 2, nil, "program"), "-n 2 --bind-to core --replicas 2 --protocol mirror program")
	b.cores = b.cores[:2] // replicas of one rank have different ones
	is(b.jobs(Beside, 4, nil, "program"), "--bind-to 0,1,0,1 env BANYAN_CORES=1 program", "--bind-to 1,0,1,0 env BANYAN_CORES=1 program")
}

// A job that verifies runs the parallel protocol.
func TestVerified(t *testing.T) {
	b := &Bench{Banyan: "banyan", Replicas: 2, cores: []int{0}}
	if got := strings.Join(b.jobs(Verified, 2, nil, "program")[0], " "); !strings.HasSuffix(got, "-n 2 --verify --bind-to core --replicas 2 --protocol parallel program") {
		t.Error(got)
	}
}

// As the paper has it, each message is acknowledged.
func TestEach(t *testing.T) {
	b := &Bench{Banyan: "banyan", Replicas: 2, cores: []int{0}}
	if got := strings.Join(b.jobs(Each, 2, nil, "program")[0], " "); !strings.HasSuffix(got, "--protocol parallel env BANYAN_ACKNOWLEDGE=each program") {
		t.Error(got)
	}
}

// A plan records each run, and what the protocols send is what the paper says they do: r times the
// messages, or r² times with mirror, and as many acknowledgements as messages.
func TestPlan(t *testing.T) {
	b, bin := tools(t)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var all []Sample
	steps := 0
	b.Record, b.Progress = func(s Sample) { all = append(all, s) }, func() { steps++ }
	solver, err := ParseProgram(filepath.Join(bin, "multigrid") + " -points 7")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Sizes: []int{8}, PingPongs: 1, Applications: []Application{solver}, Rounds: 1,
		Transports: []string{"shm"}, Kills: 1,
	}
	if err := b.Carry(ctx, p, 1); err != nil {
		t.Fatal(err)
	}
	if steps != p.Steps() || len(all) != steps {
		t.Errorf("%d steps and %d samples, want %d", steps, len(all), p.Steps())
	}
	sent := map[Setting]Sample{}
	for _, s := range all {
		if s.Part == PartTraffic {
			sent[s.Setting] = s
		} else if !(s.Seconds > 0) || s.Part == PartApplication != (s.CPU > 0) {
			t.Errorf("%+v", s)
		}
	}
	q := float64(sent[Alone].Messages)
	for s, want := range map[Setting]float64{Parallel: 2, Each: 2, Mirror: 4} {
		if times := float64(sent[s].Messages) / q; times < 0.99*want || times > 1.01*want {
			t.Errorf("%v sends each message %.3f times, want %.0f", s, times, want)
		}
	}
	if a := sent[Each]; a.Acknowledgements < a.Messages*99/100 || a.Acknowledgements > a.Messages || sent[Parallel].Acknowledgements > a.Messages/2 {
		t.Errorf("each: %d acknowledgements for %d messages; otherwise %d", a.Acknowledgements, a.Messages, sent[Parallel].Acknowledgements)
	}
}

func TestNextFrom(t *testing.T) {
	list := []arrival{{10, 1}, {20, 1}, {30, 1}, {45, 0}, {50, 0}}
	if d, err := nextFrom(list, 1, 25, true); err != nil || d != 20 {
		t.Error(d, err)
	}
	if _, err := nextFrom(list, 1, 46, true); !errors.Is(err, errFalse) {
		t.Error(err)
	}
	if d, err := nextFrom(list, 1, 46, false); err != nil || d != 4 { // with mirror both send
		t.Error(d, err)
	}
	if _, err := nextFrom(list[:3], 1, 25, true); !errors.Is(err, errNone) {
		t.Error(err)
	}
}

func TestHealed(t *testing.T) {
	list := []arrival{{10, 1}, {20, 1}, {50, 0}, {52, 0}, {60, 0}, {62, 1}, {63, 1}}
	if d, err := nextOf(list, 1, 25); err != nil || d != 37 {
		t.Error(d, err)
	}
	if _, err := nextOf(list[:5], 1, 25); !errors.Is(err, errNotHealed) {
		t.Error(err)
	}
	list = append(list, arrival{100, 1})
	if gap := longestGap(list, 25, 62); gap != 8 { // the 30 are the failover's, the 37 are later
		t.Error(gap)
	}
}

func TestSeries(t *testing.T) {
	var s series
	for _, x := range [][2]float64{{10, 11}, {20, 21}, {40, 48}} {
		s.add(Beside, x[0])
		s.add(Parallel, x[1])
	}
	times, ratios := s.spreads()
	if times[Parallel].Median != 21 || ratios[Parallel].Median != 1.1 || ratios[Beside].High != 1 {
		t.Error(times, ratios)
	}
}

func TestCheck(t *testing.T) {
	for want, b := range map[error]*Bench{
		errReplicas: {Ranks: 2, Replicas: 1, Rounds: 1},
		errRanks:    {Ranks: 1, Replicas: 2, Rounds: 1},
		errRounds:   {Ranks: 2, Replicas: 2},
		errLimit:    {Ranks: 2, Replicas: 2, Rounds: 1},
		nil:         {Ranks: 2, Replicas: 3, Rounds: 1, Limit: 1},
	} {
		if err := b.Check(); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", b, err, want)
		}
	}
}

func TestPerform(t *testing.T) {
	for _, args := range [][]string{nil, {"pingpong"}, {"stream"}, {"else", "x"}} {
		if err := Perform(args); !errors.Is(err, errRole) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := Perform([]string{"pingpong", "dir", "x", "1"}); err == nil {
		t.Error("x is no number of bytes")
	}
}
