package membership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/contention"
	"banyan/bench/processes"
	"banyan/internal/study/planning/viewtime"
)

// The test binary is also every process that the bench starts. The argument after this one says
// which test process started them.
const asRole = "membership-role"

// And it is every node of the contention's bench.
const asNode = "contention-role"

// contended is a contention that needn't be measured.
func contended(t *testing.T) *viewtime.Contended {
	t.Helper()
	c, err := viewtime.NewContended([]viewtime.Latency{{Children: 2, Nodes: 2, Time: 1}, {Children: 4, Nodes: 2, Time: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asRole {
		fmt.Fprintln(os.Stderr, Perform())
		os.Exit(1)
	}
	if len(os.Args) == 2 && os.Args[1] == asNode {
		fmt.Fprintln(os.Stderr, contention.Perform())
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

// roles are the processes that this test's benches have started and that run.
func roles(t *testing.T) []int {
	t.Helper()
	pids, err := processes.Running(again(t))
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// measure runs a setting, and checks that it leaves nothing behind.
func measure(t *testing.T, p Plan) *Result {
	t.Helper()
	p.Again = again(t)
	p.ContentionAgain = []string{p.Again[0], asNode}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := 0
	r, err := p.Run(ctx, func(runs int) { done = runs })
	if err != nil {
		t.Fatal(err)
	}
	if rows := p.Runs * len(p.settings()); done != p.Size() || len(r.Rows) != rows {
		t.Errorf("%d of %d runs done, %d of %d rows", done, p.Size(), len(r.Rows), rows)
	}
	if left := roles(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	return r
}

// check looks at the results that don't depend on the machine's load: the number of messages,
// and the order of events.
func check(t *testing.T, rows []Row) {
	t.Helper()
	for _, r := range rows {
		live := r.Agree()
		agreement, commits := 2*(live-1), live-1
		switch r.Fault.Kind {
		case Root:
			agreement += 2 * (live - 1) // the new coordinator asks which proposal each has accepted
		case Join:
			commits++
		}
		exact := r.Messages-r.Commits == agreement && r.Commits == commits
		if r.Fault.Kind == Several { // they may become known one after the other
			exact = r.Messages-r.Commits >= agreement && r.Commits >= commits
		}
		if !exact {
			t.Errorf("%v, run %d: %d messages to agree and %d to commit, want %d and %d", &r.Setting, r.Run, r.Messages-r.Commits, r.Commits, agreement, commits)
		}
		if !(r.Stabilise > 0) || r.Commit < r.Stabilise || !(r.Base > 0) || !(r.Contention > 0) || !(r.First > 0) || r.All < r.First || r.All < r.Commit || !(r.Busy > 0) || r.Busy > 2 {
			t.Errorf("%+v", r)
		}
	}
}

var every = []Fault{{Kind: Node}, {Kind: Root}, {Several, 2}, {Kind: Join}}

// Among n live members a death takes exactly 2(n-1) messages to agree on and n-1 to commit; a
// root's death takes 2(n-1) more. Members are goroutines here, and none stays behind.
func TestTogether(t *testing.T) {
	p := Plan{N: []int{13}, Arities: []int{2, 4}, Faults: every, Runs: 2, Seed: 1}
	if testing.Short() {
		p.N, p.Arities = []int{4}, p.Arities[:1]
	}
	p.Contended = contended(t)
	r := measure(t, p)
	check(t, r.Rows)
	if all := Summarise(r.Rows); len(all) != len(r.Rows)/p.Runs || all[0].Runs != p.Runs || all[0].Least > all[0].Stabilise || all[0].Most < all[0].Stabilise {
		t.Errorf("%d summaries, %+v", len(all), all[0])
	}
	if svg, err := Chart(Summarise(r.Rows)).SVG(); err != nil || !strings.Contains(string(svg), "contention model") {
		t.Errorf("%d bytes of a chart, %v", len(svg), err)
	}
}

// A member that is left alone agrees with itself, at once.
func TestAlone(t *testing.T) {
	r := measure(t, Plan{N: []int{2}, Arities: []int{2}, Faults: []Fault{{Kind: Node}, {Kind: Root}}, Runs: 2, Contended: contended(t)})
	for _, row := range r.Rows {
		if row.Messages != 0 || row.Stabilise != 0 || row.Agree() != 1 {
			t.Errorf("%+v", row)
		}
	}
	if f := Chart(Summarise(r.Rows)); len(f.Series) != 0 {
		t.Errorf("a chart of %d series", len(f.Series))
	}
}

// The same with processes.
func TestApart(t *testing.T) {
	p := Plan{N: []int{6}, Arities: []int{2}, Faults: every, Runs: 2, Apart: MaxMembers, Seed: 1}
	r := measure(t, p)
	check(t, r.Rows)
	if r.Machine.Latency <= 0 || r.Machine.Latency > 1 || r.Machine.Compute <= 0 {
		t.Errorf("%+v", r.Machine)
	}
	// The contention was measured too, from groups of three up to all six.
	if c := r.Machine.Contended.Measured(2); len(c) != 2 || c[0].Nodes != 3 || c[1].Nodes != 6 || len(r.Matches) != 1 || !r.Matches[0].Apart || r.Matches[0].Count != 1 {
		t.Errorf("%+v, %+v", c, r.Matches)
	}
}

// A bench that is interrupted ends, and its members with it.
func TestInterrupted(t *testing.T) {
	p := Plan{N: []int{4}, Arities: []int{2}, Faults: every[:1], Runs: 1000, Apart: 4, Again: again(t), Contended: contended(t)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := p.Run(ctx, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || len(r.Rows) == 0 || r.Rows[0].Base == 0 {
		t.Errorf("%+v, %v", r, err) // the measured rows aren't lost
	}
	if left := roles(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// A bench that is killed ends its members too.
func TestKilled(t *testing.T) {
	if os.Getenv("MEMBERSHIP_TEST_KILLED") != "" {
		p := Plan{N: []int{4}, Arities: []int{2}, Faults: every[:1], Runs: 100000, Apart: 4, Again: again(t), Contended: contended(t)}
		t.Fatal(p.Run(t.Context(), func(int) {}))
	}
	c := exec.Command(again(t)[0], "-test.run=^TestKilled$")
	c.Env = append(os.Environ(), "MEMBERSHIP_TEST_KILLED=1")
	c.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if !processes.WaitFor(nil, 20*time.Second, func() bool { return len(roles(t)) >= 4 }) {
		t.Fatalf("%d members came up", len(roles(t)))
	}
	c.Process.Kill()
	if !processes.WaitFor(nil, 20*time.Second, func() bool { return len(roles(t)) == 0 }) {
		t.Errorf("processes %v have outlived the bench", roles(t))
	}
}

// A member that ends is an error with its output, not a wait.
func TestMemberThatFails(t *testing.T) {
	p := Plan{Apart: 4, Again: []string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}}
	_, err := p.measure(t.Context(), Setting{N: 4, Arity: 2}, func() {})
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Error(err)
	}
}

func TestPlanCheck(t *testing.T) {
	good := Plan{N: []int{3}, Arities: []int{2}, Faults: every[:1], Runs: 1, Apart: 64}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		spoil func(*Plan)
		says  string
	}{
		{func(p *Plan) { p.Runs = 0 }, "--runs 0"},
		{func(p *Plan) { p.Apart = -1 }, "--processes -1"},
		{func(p *Plan) { p.N = nil }, "-n, --arity and --fault"},
		{func(p *Plan) { p.N = []int{3, 1} }, "-n 1"},
		{func(p *Plan) { p.Faults = []Fault{{Several, 3}} }, "--fault several:3"},
		{func(p *Plan) { p.Arities, p.Contended = []int{8}, contended(t) }, "--arity 8: the contention was measured with [2 4]"},
	} {
		p := good
		if x.spoil(&p); p.Check() == nil || !strings.Contains(p.Check().Error(), x.says) {
			t.Errorf("want %s: %v", x.says, p.Check())
		}
	}
}
