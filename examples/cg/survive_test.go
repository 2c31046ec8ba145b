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

	"banyan/examples/internal/jobtest"
	"banyan/internal/job/launcher"
)

// soak makes TestSurvive run for this time instead of its usual number of plans.
var soak = flag.Duration("soak", 0, "try random fault plans for so long")

func TestMain(m *testing.M) { jobtest.Main(m, main) }

// TestSurvive kills and stops processes at random, in every phase of the program. The output is
// that of the undisturbed job, as long as each rank keeps a replica.
func TestSurvive(t *testing.T) {
	args := []string{"-every", "10", "-tolerance", "1e-5", "data/bcsstk16.mtx.gz"}
	undisturbed := map[int]string{}
	for _, n := range []int{1, 2, 3, 4, 7} {
		r := jobtest.Run(t, "", launcher.Config{Ranks: n, Replicas: 1, Args: args})
		if r.ExitCode != 0 {
			t.Fatalf("%d ranks undisturbed: exit code %d\n%s", n, r.ExitCode, r.Stderr)
		}
		undisturbed[n] = r.Stdout
	}
	const plans = 6 // each number of ranks, degree, protocol and kind of plan; make soak tries many more
	begin, deaths, tried := time.Now(), 0, 0
	for seed := 1; seed <= plans || time.Since(begin) < *soak; seed++ {
		n := []int{4, 1, 2, 3, 4, 7, 2, 3}[seed%8]
		replicas := 2 + seed/4%2
		within := []string{"300ms", "send:700", "100ms"}[seed%3]
		degrees := slices.Repeat([]int{replicas}, n)
		spare := n * (replicas - 1)
		if seed%3 == 1 && n > 1 { // only some of the ranks
			first := seed % n
			degrees[first] = 1
			spare -= replicas - 1
		}
		protocol := launcher.ProtocolParallel
		if seed%5 < 2 {
			protocol = launcher.ProtocolMirror
		}
		faults := fmt.Sprintf("random count=%d within=%s seed=%d", 1+seed%spare, within, seed)
		config := launcher.Config{Ranks: n, Degrees: degrees, Protocol: protocol, Args: args}
		r := jobtest.Run(t, faults, config)
		if tried++; len(r.Deaths) > 0 {
			deaths++
		}
		if r.ExitCode != 0 || r.Stdout != undisturbed[n] {
			t.Errorf("%s\nexit code %d\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				jobtest.Command(faults, config), r.ExitCode, r.Stderr, r.Stdout, undisturbed[n])
		}
	}
	t.Logf("processes died in %d of %d jobs", deaths, tried)
	if deaths < tried/2 {
		t.Error("most jobs end before their faults")
	}
}

// TestHeal kills a replica, waits until it has been replaced, and kills the donor of the
// replacement. The output stays that of the undisturbed job.
func TestHeal(t *testing.T) {
	args := []string{"-every", "50", "-solves", "15", "data/bcsstk16.mtx.gz"} // time for two replacements on a busy machine
	undisturbed := jobtest.Run(t, "", launcher.Config{Ranks: 3, Replicas: 1, Args: args})
	if undisturbed.ExitCode != 0 {
		t.Fatal(undisturbed.Stderr)
	}
	for _, rank := range []int{0, 2} {
		var errs bytes.Buffer
		r := jobtest.Run(t, fmt.Sprintf("kill rank=%d replica=1 at=send:600", rank), launcher.Config{
			Ranks: 3, Replicas: 2, Heal: true, Args: args, Stderr: &killer{rank: rank, t: t, w: &errs},
		})
		if r.ExitCode != 0 || r.Stdout != undisturbed.Stdout || len(r.Deaths) != 2 || len(r.Heals) == 0 || r.Heals[0].Error != "" {
			t.Errorf("rank %d: exit code %d, deaths %v, heals %v\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				rank, r.ExitCode, r.Deaths, r.Heals, &errs, r.Stdout, undisturbed.Stdout)
		}
	}
}

// TestHealTogether kills a replica of each rank at the same time, and two of that with three.
// Those of different ranks are healed at the same time, those of one rank in turn. The output
// stays that of the undisturbed job.
func TestHealTogether(t *testing.T) {
	args := []string{"-every", "50", "-solves", "8", "data/bcsstk16.mtx.gz"}
	undisturbed := jobtest.Run(t, "", launcher.Config{Ranks: 3, Replicas: 1, Args: args})
	faults := "kill rank=0 replica=1 at=send:300; kill rank=1 replica=0 at=send:300; kill rank=2 replica=1 at=send:300; kill rank=2 replica=2 at=send:300"
	r := jobtest.Run(t, faults, launcher.Config{Ranks: 3, Degrees: []int{2, 2, 3}, Heal: true, Args: args})
	if r.ExitCode != 0 || r.Stdout != undisturbed.Stdout || len(r.Deaths) != 4 || len(r.Heals) != 4 {
		t.Fatalf("exit code %d, deaths %v, heals %+v\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s", r.ExitCode, r.Deaths, r.Heals, r.Stderr, r.Stdout, undisturbed.Stdout)
	}
	together := 0
	for i, a := range r.Heals {
		for _, b := range r.Heals[:i] {
			overlap := a.Began < b.Began+b.Took && b.Began < a.Began+a.Took
			if together += b2i(overlap); overlap && a.Rank == b.Rank {
				t.Errorf("rank %d is healed twice at the same time: %+v and %+v", a.Rank, a, b)
			}
		}
		if a.Error != "" {
			t.Errorf("%+v", a)
		}
	}
	if together == 0 {
		t.Errorf("one after the other: %+v", r.Heals)
	}
}

func b2i(is bool) int {
	if is {
		return 1
	}
	return 0
}

// killer is the launcher's stderr. When the launcher says for the first time that a replica is
// back, killer kills replica 0 of that rank.
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

// child is the process id of a process of the job that the test runs.
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
	return 1 << 30 // no process has this number
}

// TestBrokenMatrixJob checks that a job of processes ends with code 1 and names the cause.
func TestBrokenMatrixJob(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		r := jobtest.Run(t, "", launcher.Config{Ranks: 3, Replicas: replicas, Args: []string{"testdata/broken.mtx"}})
		if r.ExitCode != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, `line 4: value "four" is not a finite number`) {
			t.Errorf("%d replicas: exit code %d\nstderr:\n%s\nstdout:\n%s", replicas, r.ExitCode, r.Stderr, r.Stdout)
		}
	}
}
