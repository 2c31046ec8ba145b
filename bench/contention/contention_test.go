package contention

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/bench/processes"
	"banyan/internal/study/planning/viewtime"
)

// The test binary is also every node. The argument after this one says which test started it.
const asRole = "contention-role"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asRole {
		fmt.Fprintln(os.Stderr, Perform())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func again(t *testing.T) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program, asRole, t.Name()}
}

// nothingLeft checks that no node of the test runs any more.
func nothingLeft(t *testing.T) {
	t.Helper()
	if pids, err := processes.Running(again(t)); err != nil || len(pids) > 0 {
		t.Errorf("processes %v are left, %v", pids, err)
	}
}

// TestRun: every structure is measured with the nodes that make whole groups, with a pause and
// without, and a model can be made of it.
func TestRun(t *testing.T) {
	for _, pause := range []time.Duration{0, 10 * time.Millisecond} {
		p := Plan{Children: []int{1, 2}, Nodes: []int{2, 3, 7}, Runs: 1, Size: 700, Pause: pause, Again: again(t)}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		done := 0
		rows, err := p.Run(ctx, func(runs int) { done = runs })
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%d:%d/%d", r.Children, r.Nodes, r.Run))
			if !(r.Latency > 0) || r.Least > r.Latency || r.Most < r.Latency || r.Most > 10 || !(r.Work > 0) || r.Work > 0.1 {
				t.Errorf("%+v", r)
			}
		}
		if s := strings.Join(got, " "); s != "1:2/0 1:6/0 2:3/0 2:6/0" || done != len(rows) || done != p.Count() {
			t.Errorf("%d of %d runs: %s", done, p.Count(), s)
		}
		if c, err := viewtime.NewContended(Latencies(rows)); err != nil || len(c.Measured(1)) != 2 || len(c.Measured(2)) != 2 {
			t.Errorf("%+v, %v", c, err)
		}
		nothingLeft(t)
	}
}

// TestInterrupted: what was measured is returned, and no node stays behind.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := Plan{Children: []int{1}, Nodes: []int{2}, Runs: 1000, Size: 1, Again: again(t)}
	rows, err := p.Run(ctx, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	nothingLeft(t)
}

// TestNodeThatFails: a node that ends is an error with what it said, not a wait.
func TestNodeThatFails(t *testing.T) {
	p := Plan{Children: []int{1}, Nodes: []int{2}, Runs: 1, Size: 1, Again: []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}}
	if _, err := p.Run(t.Context(), func(int) {}); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	good := Plan{Children: []int{1, 2}, Nodes: []int{2, 4}, Runs: 1, Size: 100}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		spoil func(*Plan)
		says  string
	}{
		{func(p *Plan) { p.Runs = 0 }, "--runs 0"},
		{func(p *Plan) { p.Size = 0 }, "--size 0"},
		{func(p *Plan) { p.Size = MaxSize + 1 }, "--size"},
		{func(p *Plan) { p.Pause = -1 }, "--pause -1ns"},
		{func(p *Plan) { p.Pause = time.Second }, "--pause 1s"},
		{func(p *Plan) { p.Nodes = nil }, "-n and --children"},
		{func(p *Plan) { p.Nodes = []int{1} }, "-n 1"},
		{func(p *Plan) { p.Nodes = []int{4, 2} }, "-n 2: want numbers that grow"},
		{func(p *Plan) { p.Nodes = []int{MaxNodes + 1} }, "-n 257"},
		{func(p *Plan) { p.Children = []int{0} }, "--children 0"},
		{func(p *Plan) { p.Children = []int{4} }, "--children 4: 4 nodes make no group"},
	} {
		p := good
		if x.spoil(&p); p.Check() == nil || !strings.Contains(p.Check().Error(), x.says) {
			t.Errorf("want %s: %v", x.says, p.Check())
		}
	}
}

func TestMedians(t *testing.T) {
	got := Medians([]Row{{1, 4, 0, 5, 4, 6, 9}, {1, 4, 1, 9, 1, 20, 7}, {1, 4, 2, 6, 5, 7, 8}, {2, 3, 0, 1, 1, 1, 2}, {2, 3, 1, 3, 2, 4, 2}})
	if len(got) != 2 || got[0] != (Row{1, 4, 0, 6, 1, 20, 8}) || got[1] != (Row{2, 3, 0, 2, 1, 4, 2}) {
		t.Errorf("%+v", got)
	}
}
