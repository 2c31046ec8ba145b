package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

var healings = flag.Int("healings", 2, "how many jobs TestLedHealing runs")

// Replicas that have died are replaced, leaders and others, and the donor of each replacement dies
// soon after it. So each rank is led by one replacement after the other. The output is always that
// of an undisturbed run.
func TestLedHealing(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 20_000
	sum := 0.0
	for task := range int64(tasks) {
		sum += compute(task)
	}
	want := fmt.Sprintf("%d tasks, sum %.6f\n", tasks, sum)
	deaths, healed := 0, 0
	for seed := range *healings {
		plan, err := fault.Parse(fmt.Sprintf("random count=4 within=200ms seed=%d action=kill", seed))
		if err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		stderr := &donorKiller{rng: rand.New(rand.NewPCG(uint64(seed), 0)), left: 8}
		r, err := launcher.Run(launcher.Config{
			Ranks: 4, Replicas: 2, Order: launcher.OrderLeader, Heal: true, Verify: seed%2 == 0, Faults: plan,
			Program: program, Args: []string{"-tasks", fmt.Sprint(tasks)}, Env: append(os.Environ(), asProgram+"=1"),
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: stderr, Limit: 2 * time.Minute,
		})
		stderr.wait()
		if err != nil || r.ExitCode != 0 || stdout.String() != want || strings.Contains(stderr.said.String(), "differ") {
			t.Fatalf("seed %d: %v %+v\n%s\n%s", seed, err, r, stdout.String(), stderr.said.String())
		}
		deaths += len(r.Deaths)
		for _, h := range r.Heals {
			if h.Error == "" {
				healed++
			}
		}
	}
	if t.Logf("%d deaths, %d healed", deaths, healed); deaths < 8**healings || healed < 6**healings {
		t.Error("that is too few")
	}
}

// donorKiller is the stderr of a job of four ranks with two replicas. It kills the donor of each
// replacement a moment after that is back.
type donorKiller struct {
	rng     *rand.Rand
	left    int // how many it kills
	said    bytes.Buffer
	killing sync.WaitGroup
}

var back = regexp.MustCompile(`rank (\d): replica \d is back .* with the state of replica (\d)`)

func (k *donorKiller) Write(b []byte) (int, error) {
	for _, m := range back.FindAllSubmatch(b, -1) {
		if k.left--; k.left >= 0 {
			number, after := 4*int(m[2][0]-'0')+int(m[1][0]-'0'), time.Duration(k.rng.Int64N(10e6))
			k.killing.Go(func() {
				time.Sleep(after)
				killChild(number)
			})
		}
	}
	return k.said.Write(b)
}

func (k *donorKiller) wait() { k.killing.Wait() }

// killChild kills the process of the job with a number.
func killChild(number int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range lists {
		pids, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(pids)) {
			pid, err := strconv.Atoi(word)
			env, _ := os.ReadFile("/proc/" + word + "/environ")
			if err == nil && bytes.Contains(env, fmt.Appendf(nil, "PMI_RANK=%d\x00", number)) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
