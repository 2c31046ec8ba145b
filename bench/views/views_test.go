package views

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/bench/membership"
	"banyan/bench/processes"
	"banyan/internal/study/planning/risk"
	"banyan/internal/testing/scratch"
)

// built is the directory that command has made.
var built *scratch.Directory

// command builds banyan, once.
var command = sync.OnceValues(func() (string, error) {
	var err error
	if built, err = scratch.Make(); err != nil {
		return "", err
	}
	return filepath.Join(built.Path, "banyan"), built.Build("banyan/cmd/banyan")
})

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

func plan(t *testing.T) Plan {
	t.Helper()
	banyan, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return Plan{
		Of: Every, N: []int{4}, Programs: []Program{Connected}, Faults: []membership.Fault{{Kind: membership.Node}, {Kind: membership.Root}}, Runs: 1, Seed: 1,
		Banyan: banyan, Role: []string{banyan, "bench", "views-role"}, Again: []string{banyan, "bench", "membership-role"},
	}
}

// nothingLeft checks that no process of a job runs any more, soon: the kernel is done with one a
// moment after its launcher is. Their command lines have the path of a table, which names this
// process.
func nothingLeft(t *testing.T) {
	t.Helper()
	table, left := fmt.Sprintf("/proc/%d/fd/", os.Getpid()), ""
	if !processes.WaitFor(nil, 20*time.Second, func() bool {
		all, err := filepath.Glob("/proc/[0-9]*/cmdline")
		left = ""
		for _, name := range all {
			if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), table) {
				left += name + " "
			}
		}
		return err == nil && left == ""
	}) {
		t.Errorf("processes are left: %s", left)
	}
}

// TestRun: members of a group, ranks and replicas agree without a dead process and without a dead
// coordinator, and gathering is in the times.
func TestRun(t *testing.T) {
	p := plan(t)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := 0
	rows, err := p.Run(ctx, func(runs int) { done = runs })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s/%v", r.Of, r.Fault))
		if r.First < risk.Seconds(gather.Seconds()) || r.All < r.First || r.All > 60 || (r.Of == Group) != (r.Program == Waiting) {
			t.Errorf("%+v", r)
		}
	}
	if want := []string{"group/node", "ranks/node", "replicas/node", "group/root", "ranks/root", "replicas/root"}; !slices.Equal(got, want) || done != p.Count() {
		t.Errorf("%d of %d runs: %v", done, p.Count(), got)
	}
	if all := Summarise(rows); len(all) != 6 || all[0].All != rows[0].All || len(Chart(all).Series) != 6 {
		t.Errorf("%+v", all)
	}
	nothingLeft(t)
}

// TestInterrupted: what was measured is returned, and no job stays behind.
func TestInterrupted(t *testing.T) {
	p := plan(t)
	p.Of, p.N, p.Runs = []Of{Ranks}, []int{2}, 1000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows, err := p.Run(ctx, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	nothingLeft(t)
}

// TestJobThatFails: a job that ends is an error with what it said, not a wait.
func TestJobThatFails(t *testing.T) {
	p := plan(t)
	p.Of, p.Role = []Of{Ranks}, []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}
	if rows, err := p.Run(t.Context(), func(int) {}); err == nil || !strings.Contains(err.Error(), "no such luck") || len(rows) != 0 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestVictims: the coordinator dies as the root only, no process twice, and no two replicas of one
// rank.
func TestVictims(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		for _, of := range []Of{Ranks, Replicas} {
			for k := 1; k <= 4; k++ {
				s := Setting{of, 8, Waiting, membership.Fault{Kind: membership.Several, Count: k}}
				if err := s.Check(); err != nil {
					t.Fatal(err)
				}
				dead, ranks := victims(s, random), map[int]bool{}
				for _, p := range dead {
					ranks[p%(s.N/s.replicas())] = true
				}
				if len(dead) != k || len(ranks) != k || slices.Contains(dead, 0) {
					t.Fatalf("%v: %v", &s, dead)
				}
			}
		}
	}
	if root := victims(Setting{Ranks, 8, Waiting, membership.Fault{Kind: membership.Root}}, random); !slices.Equal(root, []int{0}) {
		t.Error(root)
	}
}

func TestCheck(t *testing.T) {
	good := Plan{Of: Every, N: []int{4}, Programs: Programs, Faults: []membership.Fault{{Kind: membership.Node}}, Runs: 1}
	if err := good.Check(); err != nil || good.Count() != 9 {
		t.Errorf("%d, %v", good.Count(), err)
	}
	for _, x := range []struct {
		spoil func(*Plan)
		says  string
	}{
		{func(p *Plan) { p.Runs = 0 }, "--runs 0"},
		{func(p *Plan) { p.N = nil }, "-n, --of, --program and --fault"},
		{func(p *Plan) { p.Of, p.Programs = []Of{Group}, nil }, "-n, --of, --program and --fault"},
		{func(p *Plan) { p.Of = []Of{"x"} }, `--of "x": want group, ranks, replicas`},
		{func(p *Plan) { p.Programs = []Program{"x"} }, `--program "x": want waiting, connected, computing, messages`},
		{func(p *Plan) { p.N = []int{1} }, "-n 1"},
		{func(p *Plan) { p.N = []int{MaxProcesses + 2} }, "-n 258"},
		{func(p *Plan) { p.N = []int{5} }, "-n 5: two replicas a rank"},
		{func(p *Plan) { p.Faults[0].Kind = membership.Join }, "--fault join"},
		{func(p *Plan) { p.Faults[0] = membership.Fault{Kind: membership.Several, Count: 4} }, "--fault several:4"},
		{func(p *Plan) {
			p.Of, p.Faults[0] = []Of{Replicas}, membership.Fault{Kind: membership.Several, Count: 3}
		}, "--fault several:3"},
	} {
		p := good
		p.Faults = slices.Clone(good.Faults)
		if x.spoil(&p); p.Check() == nil || !strings.Contains(p.Check().Error(), x.says) {
			t.Errorf("want %s: %v", x.says, p.Check())
		}
	}
}
