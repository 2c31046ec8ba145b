package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
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
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(time.Minute, func() {
		panic(fmt.Sprintf("hangs: banyan run -n %d --replicas %d --fault '%s' bin/cg %s", n, replicas, faults, strings.Join(args, " ")))
	})
	defer hang.Stop()
	var out, errs bytes.Buffer
	report, err := launch.Run(launch.Config{
		Ranks: n, Replicas: replicas, Faults: plan, Program: program, Args: args,
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
	plans := 50
	if testing.Short() {
		plans = 8
	}
	begin := time.Now()
	for seed := 1; seed <= plans || time.Since(begin) < *soak; seed++ {
		n := []int{4, 1, 2, 3, 4, 7, 2, 3}[seed%8]
		replicas := 2 + seed/4%2
		within := []string{"500ms", "send:1500", "100ms"}[seed%3]
		faults := fmt.Sprintf("random count=%d within=%s seed=%d", 1+seed%(n*(replicas-1)), within, seed)
		out, errs, code := job(t, n, replicas, faults, args...)
		if code == 0 && out == undisturbed[n] {
			continue
		}
		t.Errorf("banyan run -n %d --replicas %d --fault '%s' bin/cg -every 10 examples/cg/data/bcsstk16.mtx.gz\n"+
			"exit code %d\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s", n, replicas, faults, code, errs, out, undisturbed[n])
	}
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
