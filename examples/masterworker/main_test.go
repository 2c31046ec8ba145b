package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/check"
	"banyan/internal/job/launcher"
	"banyan/internal/proto"
	"banyan/mpi"
)

// asProgram makes the test's executable the program itself.
const asProgram = "BANYAN_TEST_AS_MASTER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Both ways to hand out tasks do each task once, and give the same sum.
func TestMaster(t *testing.T) {
	const tasks = 40
	sums := map[bool]float64{}
	for _, fixed := range []bool{false, true} {
		err := mpi.Local(4, func(world *mpi.Comm) error {
			if world.Rank() > 0 {
				return work(world)
			}
			sum, err := master(world, tasks, fixed)
			sums[fixed] = sum
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sums[false] != sums[true] || sums[true] == 0 {
		t.Errorf("the sums are %v", sums)
	}
}

// The comparison of banyan check finds the master that serves workers in the order of their
// results, and finds nothing in the other one.
func TestCaught(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const ranks, seeds = 4, 20
	compared := func(seed uint64, args ...string) *check.Summary {
		t.Helper()
		dir := t.TempDir()
		_, err := launcher.Run(launcher.Config{
			Ranks: ranks, Replicas: 2, Program: program, Args: args,
			Env:   append(append(os.Environ(), asProgram+"=1"), check.Environment(dir, seed, check.Site{})...),
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, // it may end with an error about what it sends
			Limit: 20 * time.Second, // or hang
		})
		if err != nil {
			t.Fatal(err)
		}
		c := check.Compare(check.Job{Dir: dir, Ranks: ranks, Procs: func(r int) []proto.Proc {
			return []proto.Proc{proto.Proc(r), proto.Proc(ranks + r)}
		}})
		defer c.Close()
		if _, err := c.Advance(); err != nil {
			t.Fatal(err)
		}
		s, err := c.Summary()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := compared(0, "-fixed"); len(s.Found) > 0 || s.Payloads.Calls() > 0 || s.Cut != nil || s.Calls < 400 {
		t.Errorf("-fixed: %+v", s)
	}
	for seed := range uint64(seeds) {
		for _, d := range compared(seed).Found {
			if d.Rank == 0 && d.Cause != nil && d.Cause.Receives[0].AnySource {
				return // found, with the reason
			}
		}
	}
	t.Errorf("it passed %d times", seeds)
}

var leds = flag.Int("leds", 10, "how many jobs TestLed runs")

// In leader order the master that serves workers in the order of their results is replicated as it
// is, and outlives the deaths of leaders and others: the replicas send the same and print the same.
func TestLed(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	deaths := 0
	for seed := range *leds {
		replicas := 2 + seed%2
		plan, err := fault.Parse(fmt.Sprintf("random count=%d within=send:100 seed=%d action=kill", 2*replicas-1, seed))
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		r, err := launcher.Run(launcher.Config{
			Ranks: 4, Replicas: replicas, Order: launcher.OrderLeader, Verify: true, Faults: plan,
			Program: program, Env: append(os.Environ(), asProgram+"=1"),
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Limit: time.Minute,
		})
		if err != nil || r.ExitCode != 0 || stdout.String() != "200 tasks, sum -1.211850\n" || strings.Contains(stderr.String(), "differ") {
			t.Fatalf("seed %d: %v %+v\n%s\n%s", seed, err, r, stdout.String(), stderr.String())
		}
		deaths += len(r.Deaths)
	}
	if t.Log(deaths, "deaths"); deaths < *leds {
		t.Errorf("%d deaths in %d jobs", deaths, *leds)
	}
}

var healings = flag.Int("healings", 6, "how many jobs TestLedHealing runs")

// Replicas that have died are replaced, leaders and others, and later the replacements lead. The output
// is always that of an undisturbed run.
func TestLedHealing(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	deaths, healed, lost := 0, 0, 0
	for seed := range *healings {
		plan, err := fault.Parse(fmt.Sprintf("random count=4 within=300ms seed=%d action=kill", seed))
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		r, err := launcher.Run(launcher.Config{
			Ranks: 4, Replicas: 2, Order: launcher.OrderLeader, Heal: true, Verify: seed%2 == 0, Faults: plan,
			Program: program, Args: []string{"-tasks", "8000"}, Env: append(os.Environ(), asProgram+"=1"),
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Limit: 2 * time.Minute,
		})
		if err != nil || strings.Contains(stderr.String(), "differ") {
			t.Fatalf("seed %d: %v %+v\n%s\n%s", seed, err, r, stdout.String(), stderr.String())
		}
		deaths += len(r.Deaths)
		for _, h := range r.Heals {
			if h.Error == "" {
				healed++
			}
		}
		if strings.Contains(stderr.String(), "lost") && r.ExitCode != 0 {
			lost++ // both replicas of a rank died before one was replaced
			continue
		}
		if r.ExitCode != 0 || stdout.String() != "8000 tasks, sum 0.416805\n" {
			t.Fatalf("seed %d: %+v\n%s\n%s", seed, r, stdout.String(), stderr.String())
		}
	}
	if t.Logf("%d deaths, %d healed, %d of %d jobs lost a rank", deaths, healed, lost, *healings); healed < *healings {
		t.Error("that is too few")
	}
}
