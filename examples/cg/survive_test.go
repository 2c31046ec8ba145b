package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/launch"
)

// soak makes TestSurvive go on for so long in place of its usual number of plans.
var soak = flag.Duration("soak", 0, "try random fault plans for so long")

// asProgram makes the test's executable the program itself.
const asProgram = "BANYAN_TEST_AS_CG"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// job runs the program as a job of processes and returns what it printed.
func job(t *testing.T, n, replicas int, faults string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return jobOf(t, slices.Repeat([]int{replicas}, n), launch.ProtocolParallel, faults, args...)
}

// jobOf is job where each rank has its own number of replicas.
func jobOf(t *testing.T, degrees []int, protocol, faults string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(time.Minute, func() {
		panic(fmt.Sprintf("hangs: banyan run %s --fault '%s' bin/cg %s", flagsOf(degrees, protocol), faults, strings.Join(args, " ")))
	})
	defer hang.Stop()
	var out, errs bytes.Buffer
	report, err := launch.Run(launch.Config{
		Ranks: len(degrees), Degrees: degrees, Protocol: protocol, Faults: plan, Program: program, Args: args,
		Env:   append(os.Environ(), asProgram+"=1"),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), report.ExitCode
}

// TestSurvive kills and stops processes at random, in every phase of the program:
// the output stays that of the undisturbed job, as long as each rank keeps a replica.
func TestSurvive(t *testing.T) {
	args := []string{"-every", "10", "data/bcsstk16.mtx.gz"}
	undisturbed := map[int]string{}
	for _, n := range []int{1, 2, 3, 4, 7} {
		out, errs, code := job(t, n, 1, "", args...)
		if code != 0 {
			t.Fatalf("%d ranks undisturbed: exit code %d\n%s", n, code, errs)
		}
		undisturbed[n] = out
	}
	plans := 24
	if testing.Short() {
		plans = 8
	}
	begin := time.Now()
	for seed := 1; seed <= plans || time.Since(begin) < *soak; seed++ {
		n := []int{4, 1, 2, 3, 4, 7, 2, 3}[seed%8]
		replicas := 2 + seed/4%2
		within := []string{"500ms", "send:1500", "100ms"}[seed%3]
		degrees := slices.Repeat([]int{replicas}, n)
		spare := n * (replicas - 1)
		if seed%3 == 1 && n > 1 { // only some of the ranks
			first := seed % n
			degrees[first] = 1
			spare -= replicas - 1
		}
		protocol := launch.ProtocolParallel
		if seed%5 < 2 {
			protocol = launch.ProtocolMirror
		}
		faults := fmt.Sprintf("random count=%d within=%s seed=%d", 1+seed%spare, within, seed)
		out, errs, code := jobOf(t, degrees, protocol, faults, args...)
		if code == 0 && out == undisturbed[n] {
			continue
		}
		t.Errorf("banyan run %s --fault '%s' bin/cg -every 10 examples/cg/data/bcsstk16.mtx.gz\n"+
			"exit code %d\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s", flagsOf(degrees, protocol), faults, code, errs, out, undisturbed[n])
	}
}

// flagsOf is how banyan run is told of the replicas.
func flagsOf(degrees []int, protocol string) string {
	each := make([]string, len(degrees))
	for rank, degree := range degrees {
		each[rank] = fmt.Sprintf("%d:%d", rank, degree)
	}
	return fmt.Sprintf("-n %d --replicas %s --protocol %s", len(degrees), strings.Join(each, ","), protocol)
}

// TestHeal kills a replica, waits until it has been replaced, and kills the one whose state
// its successor has: the output stays that of the undisturbed job.
func TestHeal(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-every", "50", "-solves", "10", "data/bcsstk16.mtx.gz"}
	undisturbed, errs, code := job(t, 3, 1, "", args...)
	if code != 0 {
		t.Fatal(errs)
	}
	for _, rank := range []int{0, 2} {
		plan, err := fault.Parse(fmt.Sprintf("kill rank=%d replica=1 at=send:600", rank))
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		healed := &killer{rank: rank, t: t, w: &errs}
		hang := time.AfterFunc(2*time.Minute, func() { panic("hangs: " + errs.String()) })
		report, err := launch.Run(launch.Config{
			Ranks: 3, Replicas: 2, Heal: true, Faults: plan, Program: program, Args: args,
			Env:   append(os.Environ(), asProgram+"=1"),
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: healed,
		})
		hang.Stop()
		if err != nil {
			t.Fatal(err)
		}
		if report.ExitCode != 0 || out.String() != undisturbed || len(report.Deaths) != 2 || len(report.Heals) == 0 || report.Heals[0].Error != "" {
			t.Errorf("rank %d: exit code %d, deaths %v, heals %v\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				rank, report.ExitCode, report.Deaths, report.Heals, &errs, &out, undisturbed)
		}
	}
}

// killer is the launcher's stderr. When that says for the first time that a replica is back,
// it kills replica 0 of its rank.
type killer struct {
	rank int
	t    *testing.T
	w    *bytes.Buffer
	done bool
}

func (k *killer) Write(b []byte) (int, error) {
	if !k.done && bytes.Contains(b, []byte("is back")) {
		k.done = true
		if err := syscall.Kill(child(k.rank), syscall.SIGKILL); err != nil {
			k.t.Error(err)
		}
	}
	return k.w.Write(b)
}

// child is the process id of a process of the job that this one runs.
func child(number int) int {
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	for _, name := range children {
		pids, _ := os.ReadFile(name)
		for _, pid := range strings.Fields(string(pids)) {
			env, _ := os.ReadFile("/proc/" + pid + "/environ")
			if bytes.Contains(env, fmt.Appendf(nil, "PMI_RANK=%d\x00", number)) {
				n, _ := strconv.Atoi(pid)
				return n
			}
		}
	}
	return 1 << 30 // nobody
}

// TestBrokenMatrixJob: a job of processes ends with code 1 and the cause.
func TestBrokenMatrixJob(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		out, errs, code := job(t, 3, replicas, "", "testdata/broken.mtx")
		if code != 1 || out != "" || !strings.Contains(errs, `line 4: value "four" is not a finite number`) {
			t.Errorf("%d replicas: exit code %d\nstderr:\n%s\nstdout:\n%s", replicas, code, errs, out)
		}
	}
}
