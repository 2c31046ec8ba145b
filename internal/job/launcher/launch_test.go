package launcher

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/env"
)

func TestHello(t *testing.T) {
	o := run(t, Config{Ranks: 3}, "print", "hello\n")
	if o.stdout != strings.Repeat("hello\n", 3) || o.stderr != "" || o.report.ExitCode != 0 {
		t.Errorf("got %+v", o)
	}
	if o = run(t, Config{Ranks: 2, Replicas: 3}, "print", "no line end"); strings.Count(o.stdout, "no line end") != 2 {
		t.Errorf("got %+v", o)
	}
	if o = run(t, Config{Ranks: 2, Label: true}, "print", "a\nb\n"); len(o.stdout) != len("[0] a\n[0] b\n[1] a\n[1] b\n") ||
		!strings.Contains(o.stdout, "[1] b\n") {
		t.Errorf("got %+v", o)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("PMI_PORT", "another launcher's")
	t.Setenv(env.Fault, "another job's")
	for name, want := range map[string]string{
		"PMI_PORT": "", env.Fault: "", "PMI_SIZE": "2", env.Replicas: "2", "PYTHONHASHSEED": "0",
		env.Transport: "tcp", env.HeartbeatPeriod: "100ms", env.HeartbeatTimeout: "1s", env.LocalRanks: "",
	} {
		if o := run(t, Config{Replicas: 2, Transport: TransportTCP}, "env", name); o.stdout != want+"\n" {
			t.Errorf("%s is %q, want %q", name, o.stdout, want)
		}
	}
	o := run(t, Config{Ranks: 5, Transport: TransportInproc}, "env", env.LocalRanks)
	if o.stdout != "5\n" {
		t.Errorf("inproc started %q", o.stdout)
	}
}

func TestInheritedEnvironment(t *testing.T) {
	got := inherited([]string{"A=1", "PMI_FD=7", "B=2", "A=3", "C"})
	if want := []string{"B=2", "A=3", "C"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadJobs(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	os.WriteFile(garbage, []byte("\x01\x02\x03"), 0o755)
	plain := filepath.Join(dir, "plain")
	os.WriteFile(plain, []byte("x"), 0o644)
	plan := func(s string) fault.Plan {
		p, err := fault.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, tc := range []struct {
		name   string
		change func(*Config)
		code   int
		want   string
	}{
		{"no ranks", func(c *Config) { c.Ranks = 0 }, 2, "at least 1 rank, not 0"},
		{"no replicas", func(c *Config) { c.Replicas = 0 }, 2, "at least 1 replica, not 0"},
		{"too many", func(c *Config) { c.Ranks = 1 << 40 }, 2, "more than 4096"},
		{"no program", func(c *Config) { c.Program = "" }, 2, "no program"},
		{"unknown program", func(c *Config) { c.Program = "no-such-program-anywhere" }, 127, "no such program"},
		{"unknown path", func(c *Config) { c.Program = dir + "/nothing" }, 127, "no such program"},
		{"not executable", func(c *Config) { c.Program = plain }, 126, "can't be executed"},
		{"a directory", func(c *Config) { c.Program = dir }, 126, "can't be executed"},
		{"garbage", func(c *Config) { c.Program = garbage }, 126, "neither a program"},
		{"unknown tree", func(c *Config) { c.Bcast = "tree=oak" }, 2, "want binomial, kary"},
		{"correction that can't work", func(c *Config) { c.Bcast = "correction=ack" }, 2, "can't be chosen"},
		{"tree with replicas", func(c *Config) { c.Bcast, c.Replicas = "tree=lame", 2 }, 2, "broadcasts by messages"},
		{"unknown transport", func(c *Config) { c.Transport = "pigeon" }, 2, "no transport"},
		{"inproc replicas", func(c *Config) { c.Transport, c.Replicas = "inproc", 2 }, 2, "replicas would die with it"},
		{"inproc faults", func(c *Config) { c.Transport, c.Faults = "inproc", plan("kill rank=0 at=1s") }, 2, "fault"},
		{"rank out of range", func(c *Config) { c.Faults = plan("kill rank=9 at=1s") }, 2, "rank 9 is not among"},
		{"steps", func(c *Config) { c.Faults = plan("kill rank=0 at=step:1") }, 2, "simulated runs only"},
		{"impatient", func(c *Config) { c.HeartbeatPeriod, c.HeartbeatTimeout = time.Second, time.Second }, 2, "at least 2 periods"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Config{Ranks: 2, Replicas: 1, Program: "/bin/true", Stdin: strings.NewReader(""),
				Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}
			tc.change(&c)
			_, err := Run(c)
			e, ok := err.(*StartError)
			if !ok || e.Code != tc.code || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %#v (%v), want code %d and %q", err, err, tc.code, tc.want)
			}
		})
	}
}

// A program that isn't an MPI program gives its own exit code, with any number of replicas.
func TestExitCodes(t *testing.T) {
	for _, replicas := range []int{1, 2, 3} {
		for _, code := range []int{0, 3, 255} {
			o := run(t, Config{Ranks: 2, Replicas: replicas}, "exit", strconv.Itoa(code))
			if o.report.ExitCode != code {
				t.Errorf("%d replicas exit with %d: the job exits with %d", replicas, code, o.report.ExitCode)
			}
			if code == 0 && (o.stdout != "out\nout\n" || o.stderr != "err\nerr\n") {
				t.Errorf("%d replicas wrote %q and %q", replicas, o.stdout, o.stderr)
			}
		}
	}
}

// A process aborts some ranks: the job goes on without them only if the program handles losses.
func TestAbortGroup(t *testing.T) {
	for _, x := range []struct {
		handles, tolerance string
		code               int
		lost               string
	}{
		{"survive", "", 0, "[1 2]"},
		{"", FaultToleranceULFM, 0, "[1 2]"},
		{"", "", 7, "[]"},
		{"survive", FaultToleranceNo, 7, "[]"},
	} {
		o := run(t, Config{Ranks: 4, FaultTolerance: x.tolerance}, "part", x.handles)
		if o.report.ExitCode != x.code || fmt.Sprint(o.report.LostRanks) != x.lost ||
			strings.Contains(o.stderr, "aborted ranks 1, 2 with code 7: told to") != (x.code == 0) {
			t.Errorf("%+v: %+v", x, o)
		}
	}
}

func TestDeaths(t *testing.T) {
	for _, tc := range []struct {
		name         string
		replicas     int
		args         string // rank, replica, how, then what the others do
		code, deaths int
		cause        string
		stderr       string // a pattern of a line
		stdout       string
	}{
		{"signal survived", 2, "1 0 kill", 0, 1, CauseSignal,
			`^banyan: rank 1 replica 0 \(pid \d+\) died: signal 9 \(killed\); found by the launcher; replica 1 substitutes$`,
			"rank 0 hears that 1 is dead: signal 9 (killed)\nrank 1 hears that 1 is dead: signal 9 (killed)\n"},
		{"exit survived", 2, "1 1 3", 0, 1, CauseExit,
			`^banyan: rank 1 replica 1 \(pid \d+\) died: exit 3; found by the launcher; replica 0 substitutes$`, ""},
		{"unfinalised survived", 2, "1 0 0", 0, 1, CauseUnfinalized, `died: exit 0 without finalising;`, ""},
		{"signal of a rank", 1, "1 0 term wait", 143, 1, CauseSignal,
			`^banyan: rank 1 \(pid \d+\) died: signal 15 \(terminated\); found by the launcher; rank 1 is lost \(signal 15 \(terminated\)\): the job ends with exit code 143$`, ""},
		{"exit of a rank", 1, "1 0 7 wait", 7, 1, CauseExit, `rank 1 is lost \(exit 7\): the job ends with exit code 7`, ""},
		{"own error of all replicas", 3, "0 -1 7 wait", 7, 3, CauseExit, `rank 0 is lost \(exit 7 of all 3 replicas\): the job ends with exit code 7`, ""},
		{"own signal of all replicas", 2, "0 -1 kill wait", 137, 2, CauseSignal, `rank 0 is lost \(signal 9 \(killed\) of all 2 replicas\)`, ""},
		{"unfinalised rank", 1, "1 0 0 wait", 1, 1, CauseUnfinalized, `rank 1 is lost`, ""},
		{"rank lost and handled", 1, "1 0 kill survive", 0, 1, CauseSignal, `rank 1 is lost, and the program goes on without it`,
			"rank 0 hears that 1 is dead: signal 9 (killed)\n"},
		{"rank of replicas lost and handled", 2, "1 -1 kill survive", 137, 2, CauseSignal,
			`; replicas of a rank would learn of that at different places, so the program can't go on without it \(with --order leader it can\); rank 1 is lost \(signal 9 \(killed\) of all 2 replicas\): the job ends`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := run(t, Config{Ranks: 2, Replicas: tc.replicas}, append([]string{"die"}, strings.Fields(tc.args)...)...)
			if o.report.ExitCode != tc.code {
				t.Errorf("exit code %d, want %d", o.report.ExitCode, tc.code)
			}
			if lost := fmt.Sprint(o.report.LostRanks); strings.Contains(tc.stderr, "is lost") != (lost != "[]") || len(o.report.LostRanks) > 1 {
				t.Errorf("lost ranks %v", lost)
			}
			if len(o.report.Deaths) != tc.deaths || o.report.Deaths[0].Cause != tc.cause {
				t.Errorf("deaths %+v, want %d by %s", o.report.Deaths, tc.deaths, tc.cause)
			}
			if !regexp.MustCompile(`(?m)` + tc.stderr).MatchString(o.stderr) {
				t.Errorf("stderr is %q, want a line like %s", o.stderr, tc.stderr)
			}
			if n := strings.Count(o.stderr, "\n"); n != tc.deaths {
				t.Errorf("stderr has %d lines, want one per death: %q", n, o.stderr)
			}
			if tc.stdout != "" && !sameLines(o.stdout, tc.stdout) {
				t.Errorf("stdout is %q, want %q", o.stdout, tc.stdout)
			}
		})
	}
}

func sameLines(a, b string) bool {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// The end of a process that has finalised doesn't end the others.
func TestEndsAfterFinalising(t *testing.T) {
	for _, tc := range []struct {
		replicas int
		args     string
		code     int
	}{
		{1, "1 0 0", 0},
		{1, "1 0 3", 3},
		{1, "1 0 kill", 137},
		{2, "1 0 kill", 0},
		{2, "1 0 3", 0},
		{2, "1 -1 3", 3},
	} {
		o := run(t, Config{Ranks: 2, Replicas: tc.replicas}, append([]string{"finalized"}, strings.Fields(tc.args)...)...)
		if o.report.ExitCode != tc.code {
			t.Errorf("%d replicas, %s: exit code %d, want %d; stderr %q", tc.replicas, tc.args, o.report.ExitCode, tc.code, o.stderr)
		}
		if !strings.Contains(o.stdout, "late line\n") {
			t.Errorf("%d replicas, %s: the other rank was not left to its end", tc.replicas, tc.args)
		}
		if len(o.report.LostRanks) != 0 {
			t.Errorf("%d replicas, %s: lost ranks %v", tc.replicas, tc.args, o.report.LostRanks)
		}
	}
}

func TestAbort(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"abort", "3", "5"}, 5, "rank 1 replica 1 (pid"},
		{[]string{"abort", "0", "256"}, 1, "aborted the job with code 256: told to"},
		{[]string{"abort", "0", "0"}, 0, "aborted the job with code 0"},
		{[]string{"abort", "2", "6", "by PMI"}, 6, "aborted the job with code 6: by PMI"},
	} {
		o := run(t, Config{Ranks: 2, Replicas: 2}, tc.args...)
		if o.report.ExitCode != tc.code || o.report.Outcome != OutcomeAborted || !strings.Contains(o.stderr, tc.want) {
			t.Errorf("%v: exit code %d, %s, stderr %q", tc.args, o.report.ExitCode, o.report.Outcome, o.stderr)
		}
		if len(o.report.Deaths) != 0 {
			t.Errorf("%v: the end of the others is called death: %+v", tc.args, o.report.Deaths)
		}
	}
}

// A stopped process that another process finds silent is killed, and all others are told.
func TestSuspicion(t *testing.T) {
	o := run(t, Config{Ranks: 3, Replicas: 2}, "suspect", "4")
	if o.report.ExitCode != 0 || len(o.report.Deaths) != 1 {
		t.Fatalf("got %+v, stderr %q", o.report, o.stderr)
	}
	d := o.report.Deaths[0]
	if d.Rank != 1 || d.Replica != 1 || d.Cause != CauseSilence || d.FoundBy != "process 0" || time.Duration(*d.Latency) != 1234*time.Millisecond {
		t.Errorf("got %+v", d)
	}
	if !strings.Contains(o.stderr, "died: silent for 1.23s, killed; found by process 0 after 1.23s; replica 0 substitutes") {
		t.Errorf("stderr %q", o.stderr)
	}
}

// A process that ends or is stopped before it joins doesn't keep the others from starting.
func TestDeathDuringStart(t *testing.T) {
	for how, cause := range map[string]string{"kill": CauseSignal, "3": CauseExit, "stop": CauseSilence} {
		o := run(t, Config{Ranks: 2, Replicas: 2, HeartbeatTimeout: 300 * time.Millisecond}, "early", how)
		if o.report.ExitCode != 0 || len(o.report.Deaths) != 1 || o.report.Deaths[0].Cause != cause {
			t.Errorf("%s: %+v, stderr %q", how, o.report, o.stderr)
		}
	}
	if o := run(t, Config{Ranks: 2, Replicas: 2}, "early", "0"); o.report.ExitCode != 0 || len(o.report.Deaths) != 0 {
		t.Errorf("exit 0 of a program that never joined: %+v, stderr %q", o.report, o.stderr)
	}
}

// A process stopped after it has finalised isn't waited for.
func TestStopAfterFinalising(t *testing.T) {
	o := run(t, Config{Ranks: 2, Replicas: 2, HeartbeatTimeout: 300 * time.Millisecond}, "finalized", "1", "0", "stop")
	if o.report.ExitCode != 0 || len(o.report.Deaths) != 1 || o.report.Deaths[0].Cause != CauseSilence {
		t.Errorf("%+v, stderr %q", o.report, o.stderr)
	}
}

// A stopped replica of a program without heartbeats isn't waited for once another replica has left
// in order.
func TestStopOfAnotherProgram(t *testing.T) {
	p, err := fault.Parse("stop rank=0 at=0s")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Replicas: 2, Faults: p, HeartbeatTimeout: 300 * time.Millisecond,
		Program: "sh", Args: []string{"-c", "sleep 0.2; echo done"}}
	if o := run(t, c); o.report.ExitCode != 0 || o.stdout != "done\n" {
		t.Errorf("%+v, stdout %q, stderr %q", o.report, o.stdout, o.stderr)
	}
}

func TestPlannedFaults(t *testing.T) {
	p, err := fault.Parse("kill rank=1 at=50ms; stop rank=0 replica=1 at=0s; kill rank=0 replica=1 at=300ms; kill rank=1 at=send:5")
	if err != nil {
		t.Fatal(err)
	}
	o := run(t, Config{Ranks: 2, Replicas: 2, Faults: p}, "die", "9", "0", "0")
	r := o.report
	if r.ExitCode != 0 || len(r.Deaths) != 2 || len(r.Faults) != 4 {
		t.Fatalf("%+v, stderr %q", r, o.stderr)
	}
	if d := r.Deaths[0]; d.Rank != 1 || d.Replica != 0 || d.Latency == nil || time.Duration(d.At) < 50*time.Millisecond {
		t.Errorf("first death %+v", d)
	}
	stop := r.Faults[1].Injected
	if d := r.Deaths[1]; d.Rank != 0 || d.Replica != 1 || stop == nil || time.Duration(*d.Latency) < time.Duration(d.At-*stop)-5*time.Millisecond {
		t.Errorf("second death %+v: latency counts from the stop at %v", d, stop)
	}
	for i, want := range []bool{true, true, true, false} {
		if (r.Faults[i].Injected != nil) != want {
			t.Errorf("fault %+v", r.Faults[i])
		}
	}
}

// The signals of a user's terminal end the job and everything it has started.
func TestInterrupt(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		cmd, pids := startSleepers(t)
		cmd.Process.Signal(sig)
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%v: exit code %d, want %d", sig, got, code)
		}
		gone(t, pids)
	}
}

// The kernel ends the processes of a launcher that is killed.
func TestLauncherKilled(t *testing.T) {
	cmd, pids := startSleepers(t)
	cmd.Process.Kill()
	cmd.Wait()
	// The sleeps aren't processes of the job, and the launcher that knew them is dead.
	gone(t, pids[:len(pids)/2])
	for _, pid := range pids[len(pids)/2:] {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Ctrl-Z stops all processes, and fg continues them.
func TestSuspend(t *testing.T) {
	cmd, pids := startSleepers(t)
	all := append(slices.Clone(pids), cmd.Process.Pid)
	cmd.Process.Signal(syscall.SIGTSTP)
	await(t, "everything stops", func() bool {
		return !slices.ContainsFunc(all, func(pid int) bool { return state(pid) != 'T' })
	})
	cmd.Process.Signal(syscall.SIGCONT)
	await(t, "everything goes on", func() bool {
		return !slices.ContainsFunc(all, func(pid int) bool { return state(pid) == 'T' })
	})
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	gone(t, pids)
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// startSleepers starts a launcher with two processes that have a child each. It returns the pids,
// those of the processes first.
func startSleepers(t *testing.T) (*exec.Cmd, []int) {
	t.Helper()
	cmd, lines := startLauncher(t, Config{Ranks: 2}, 2, "sleep")
	var pids, children []int
	for _, line := range lines {
		var pid, child int
		if _, err := fmt.Sscanf(line, "pids %d %d", &pid, &child); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		pids, children = append(pids, pid), append(children, child)
	}
	return cmd, append(pids, children...)
}
