package detection

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
)

// The test binary is also every process that the bench starts. The argument after this one says
// which test process started them.
const asRole = "detector-role"

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

// measure runs a setting once, and checks that it leaves nothing behind.
func measure(t *testing.T, s Setting) Row {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	row, err := Once(ctx, s, again(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t)
	return row
}

// nothingLeft looks for processes of the bench.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left := roles(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
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

// setting is a small setting, with time-outs long enough for a busy machine.
func setting(system System, fault Fault) Setting {
	return Setting{
		System: system, N: 4, Period: 25 * time.Millisecond, Timeout: 250 * time.Millisecond,
		Fault: fault, Quiet: 250 * time.Millisecond,
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, system := range []System{Banyan, BanyanBare, Memberlist} {
		for _, fault := range []Fault{Kill, Stop, Partition} {
			t.Run(fmt.Sprint(system, "/", fault), func(t *testing.T) {
				t.Parallel()
				switch {
				case fault == Partition && checkNetwork() != nil:
					t.Skip(checkNetwork())
				case fault == Partition && system == Banyan:
					t.Skip("the same as banyan-bare")
				case fault == Kill && system == Memberlist && testing.Short():
					t.Skip("to it, a killed member is a silent one")
				}
				s := setting(system, fault)
				row := measure(t, s)
				if row.Known < 2 || row.Missing != 0 || row.First <= 0 || row.Last < row.First || row.Last > s.limit() {
					t.Errorf("%d members knew, %d didn't, after %v to %v", row.Known, row.Missing, row.First, row.Last)
				}
				// Silence is detected no sooner than the time-out after the last heartbeat, which
				// is a period old, or a few on a busy machine.
				if system.isBanyan() && fault != Kill && row.First < s.Timeout/2 {
					t.Errorf("a silent member was given up after %v", row.First)
				}
				if row.Messages <= 0 || row.CPU < 0 || row.MemberHours <= 0 {
					t.Errorf("%+v", row)
				}
			})
		}
	}
}

// A quiet ring sends one heartbeat for each member and period; memberlist sends a ping and an
// answer, and some gossip when it has news. A busy machine delays both, so there are fewer.
func TestMessagesOfAQuietSystem(t *testing.T) {
	t.Parallel()
	for system, want := range map[System]struct{ least, most float64 }{Banyan: {0.4, 1.2}, Memberlist: {1, 8}} {
		s := setting(system, None)
		s.Quiet = 40 * s.Period
		s.Timeout = 4 * time.Second // no member is to be suspected while other tests run
		row := measure(t, s)
		if row.Messages < want.least || row.Messages > want.most {
			t.Errorf("%s: %.2f messages of a member in a period, want %g to %g", system, row.Messages, want.least, want.most)
		}
		if row.Known != 0 || row.Last != 0 {
			t.Errorf("%s: without a fault %d members knew of one", system, row.Known)
		}
	}
}

// The bench is ended by its context, and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := setting(Banyan, None)
	s.Quiet = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Once(ctx, s, again(t), 1); err == nil {
		t.Error("an interrupted run gave a result")
	}
	nothingLeft(t)
}

// A bench that is killed leaves nothing behind either.
func TestKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv("DETECTION_TEST_KILLED") != "" {
		s := setting(Banyan, None)
		s.Quiet, s.Load = time.Hour, 1
		t.Fatal(Once(t.Context(), s, again(t), 1))
	}
	const members = 4
	c := exec.Command(again(t)[0], "-test.run=^TestKilled$")
	c.Env = append(os.Environ(), "DETECTION_TEST_KILLED=1")
	c.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if !processes.WaitFor(nil, 20*time.Second, func() bool { return len(roles(t)) == members+2 }) {
		t.Fatalf("%d processes came up, want %d members, a launcher and a load", len(roles(t)), members)
	}
	c.Process.Kill()
	if !processes.WaitFor(nil, 10*time.Second, func() bool { return len(roles(t)) == 0 }) {
		t.Errorf("processes %v have outlived the bench", roles(t))
	}
}

// A process that ends is an error that repeats its output, not a wait.
func TestPartThatFails(t *testing.T) {
	s := setting(BanyanBare, None)
	_, err := Once(t.Context(), Setting{System: Banyan, N: 4, Period: s.Period, Timeout: s.Timeout, Fault: None},
		[]string{"/bin/sh", "-c", "echo no such luck >&2; exit 3"}, 1)
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("got %v", err)
	}
}

func TestSettingCheck(t *testing.T) {
	for _, tc := range []struct {
		change func(*Setting)
		says   string
	}{
		{func(s *Setting) { s.N = 1 }, "-n 1"},
		{func(s *Setting) { s.N = 2 }, "-n 2"},
		{func(s *Setting) { s.N = MaxMembers + 1 }, "-n 1025"},
		{func(s *Setting) { s.Period = 0 }, "--period"},
		{func(s *Setting) { s.Timeout = s.Period }, "--timeout"},
		{func(s *Setting) { s.Fault = "fire" }, "--fault"},
		{func(s *Setting) { s.System = "gossip" }, "--peer"},
		{func(s *Setting) { s.Quiet = -1 }, "--duration"},
		{func(s *Setting) { s.Load = -1 }, "--load"},
	} {
		s := setting(Banyan, Kill)
		tc.change(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("want an error about %s, got %v", tc.says, err)
		}
	}
	if s := setting(Banyan, Kill); s.check() != nil {
		t.Error(s.check())
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	p := Plan{
		Setting: Setting{Period: 10 * time.Millisecond, Fault: Kill, Quiet: 100 * time.Millisecond},
		Systems: []System{Banyan, BanyanBare}, N: []int{3}, Timeouts: []time.Duration{100 * time.Millisecond},
		Runs: 2, Seed: 7, Again: again(t),
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	var rows []Row
	var out bytes.Buffer
	fmt.Fprintln(&out, CSVHead)
	if err := p.Run(t.Context(), func(r Row) error { rows = append(rows, r); return r.WriteCSV(&out) }); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll() // fails where a line is longer or shorter
	if err != nil || len(lines) != 1+p.Size() || len(rows) != 4 {
		t.Fatalf("%v; %d lines, %d rows", err, len(lines), len(rows))
	}
	for i, r := range rows {
		if r.Run != i/2 || r.System != p.Systems[i%2] {
			t.Errorf("row %d is run %d of %s", i, r.Run, r.System)
		}
	}
	all := Summarise(rows)
	if len(all) != 2 || all[0].Runs != 2 || all[1].System != BanyanBare {
		t.Errorf("%d summaries", len(all))
	}
	var table bytes.Buffer
	if err := WriteTable(&table, all); err != nil || strings.Count(table.String(), "\n") != 3 {
		t.Errorf("%v\n%s", err, table.String())
	}
}
