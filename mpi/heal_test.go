package mpi_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// healWay, in the environment, makes the test's executable a program with safe points, and names
// the variant of the program.
const healWay = "BANYAN_TEST_HEAL"

func init() {
	if way, is := os.LookupEnv(healWay); is {
		mpi.Main(func(world *mpi.Comm) error { return iterations(world, way) })
	}
}

// tally is a State.
type tally struct{ sums []float64 }

func (t *tally) MarshalBinary() (b []byte, err error) {
	for _, s := range t.sums {
		b = fmt.Appendf(b, "%x ", s)
	}
	return b, nil
}

func (t *tally) UnmarshalBinary(b []byte) error {
	for i, field := range strings.Fields(string(b)) {
		s, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return err
		}
		t.sums[i] = s
	}
	return nil
}

// iterations goes through some hundred steps, each with a safe point and all kinds of messages.
func iterations(world *mpi.Comm, way string) error {
	replacement := os.Getenv(env.Incarnations) != ""
	rank, size := world.Rank(), world.Size()
	right, left := (rank+1)%size, (rank+size-1)%size

	// Before the first safe point: input, communicators, a large message, a sum.
	scale := []int{0}
	if rank == 0 {
		input, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil {
			return err
		}
		scale[0], _ = strconv.Atoi(strings.TrimSpace(input))
	}
	if err := mpi.Bcast(world, scale, 0); err != nil {
		return err
	}
	team, err := world.Split(rank%2, rank)
	if err != nil {
		return err
	}
	large := make([]float64, 20_000)
	for i := range large {
		large[i] = float64(rank*i + scale[0])
	}
	request, err := mpi.Isend(world, large, right, 1)
	if err != nil {
		return err
	}
	got := make([]float64, len(large))
	if _, err := mpi.Recv(world, got, mpi.AnySource, 1); err != nil {
		return err
	}
	if _, err := request.Wait(); err != nil {
		return err
	}
	switch {
	case way == "sends otherwise" && replacement:
		if err := mpi.Send(world, large[:1], right, 9); err != nil {
			return err
		}
	case way == "receives much":
		for range 5 {
			huge := make([]byte, 14<<20)
			if _, err := mpi.Sendrecv(world, huge, right, 2, huge, left, 2); err != nil {
				return err
			}
		}
	case way == "receives ahead":
		if _, err := mpi.Irecv(world, make([]byte, 1), left, 8); err != nil {
			return err
		}
	}

	step, counts := 0, map[string]int{}
	sums := &tally{make([]float64, 3)}
	if way == "registers otherwise" && replacement {
		large = large[:100]
	}
	for name, value := range map[string]any{"step": &step, "counts": &counts, "sums": sums} {
		if way == "registers nothing" {
			break
		}
		if err := mpi.Register(world, name, value); err != nil {
			return err
		}
	}
	if way != "registers nothing" {
		if err := mpi.RegisterSlice(world, "large", large); err != nil {
			return err
		}
	}
	steps := 500
	if way == "long" {
		steps = 1500
	}
	for ; step < steps; step++ {
		if _, err := world.Safepoint(); err != nil {
			return err
		}
		if way == "makes a communicator" && step == 0 {
			if _, err := world.Dup(); err != nil {
				return err
			}
		}
		large[step] = got[step] + float64(step)
		// This message is received in the next step.
		if err := mpi.Send(world, large[step:step+1], right, 3); err != nil {
			return err
		}
		if step > 0 {
			in := make([]float64, 1)
			if _, err := mpi.Recv(world, in, mpi.AnySource, 3); err != nil {
				return err
			}
			sums.sums[0] += in[0]
		}
		if err := mpi.Allreduce(team, []float64{float64(step * rank)}, sums.sums[1:2], mpi.Sum); err != nil {
			return err
		}
		sums.sums[2] += sums.sums[1] * large[step]
		counts[strconv.Itoa(step%7)]++
		if step%50 == 0 {
			fmt.Printf("rank %d step %d: %v %v %v\n", rank, step, sums.sums, counts, large[step/2])
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("rank %d: %v %v\n", rank, sums.sums, counts)
	_, err = mpi.Recv(world, got[:1], left, 3)
	return err
}

// runWithDeaths runs a variant of the program as 3 ranks. With heal each rank has two replicas, and
// replica 1 of a rank is killed. When that one has been replaced, replica 0 is killed too.
func runWithDeaths(t *testing.T, way string, heal bool, rank int) (out, errs string, report *launcher.Report) {
	t.Helper()
	if !heal {
		return runVariant(t, way, 1, "", &secondKill{})
	}
	return runVariant(t, way, 2, fmt.Sprintf("kill rank=%d replica=1 at=send:100", rank), &secondKill{number: rank})
}

// runVariant runs a variant of the program as 3 ranks. Several replicas are healed.
func runVariant(t *testing.T, way string, replicas int, faults string, stderr *secondKill) (out, errs string, report *launcher.Report) {
	t.Helper()
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	c := launcher.Config{
		Ranks: 3, Replicas: replicas, Heal: replicas > 1, Faults: plan,
		Program: program, Env: append(os.Environ(), healWay+"="+way),
		Stdin: strings.NewReader("1000\n"), Stdout: &stdout, Stderr: stderr,
	}
	hang := time.AfterFunc(2*time.Minute, func() { panic("hangs: " + stderr.text()) })
	defer hang.Stop()
	report, err = launcher.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.text(), report
}

// secondKill is the launcher's stderr. When the launcher says that a replica is back, it kills
// replica 0 of the rank.
type secondKill struct {
	number int
	done   bool

	mu   sync.Mutex
	said bytes.Buffer
}

func (r *secondKill) Write(b []byte) (int, error) {
	if !r.done && bytes.Contains(b, []byte("is back")) {
		r.done = true
		for _, pid := range processes() {
			if procOf(pid) == r.number {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.Write(b)
}

// text is what the launcher has said so far.
func (r *secondKill) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// procOf is the number of a process of a job in that job, -1 if it can't be told.
func procOf(pid int) int {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if number, is := bytes.CutPrefix(v, []byte("PMI_RANK=")); is {
			if n, err := strconv.Atoi(string(number)); err == nil {
				return n
			}
		}
	}
	return -1
}

// processes are the processes of the job that this process runs.
func processes() (pids []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	for _, name := range tasks {
		children, _ := os.ReadFile(name)
		for _, child := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(child); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func lines(text string, rank int) (s string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, fmt.Sprintf("rank %d", rank)) {
			s += line
		}
	}
	return s
}

// TestHeal: a replica dies and is replaced; then the donor of the replacement's state dies. Each
// rank's output is the undisturbed one.
func TestHeal(t *testing.T) {
	want, errs, report := runWithDeaths(t, "", false, 0)
	if report.ExitCode != 0 {
		t.Fatal(errs)
	}
	for rank := range 3 {
		if testing.Short() && rank > 0 {
			break
		}
		out, errs, report := runWithDeaths(t, "", true, rank)
		for r := range 3 {
			if lines(out, r) != lines(want, r) {
				t.Errorf("rank %d was healed: rank %d wrote\n%s, undisturbed\n%s", rank, r, lines(out, r), lines(want, r))
			}
		}
		if report.ExitCode != 0 || len(report.Deaths) != 2 || len(report.Heals) == 0 || report.Heals[0].Error != "" {
			t.Errorf("rank %d: exit code %d, heals %+v\n%s", rank, report.ExitCode, report.Heals, errs)
		}
	}
}

// TestDonorDies: a donor dies during a healing, a little later each time, so in different parts of
// it. Both processes are replaced all the same.
func TestDonorDies(t *testing.T) {
	want, _, _ := runWithDeaths(t, "long", false, 0)
	for _, later := range []int{1, 15, 40} {
		if testing.Short() && later != 15 {
			continue
		}
		faults := fmt.Sprintf("kill rank=1 replica=2 at=send:200; kill rank=1 replica=0 at=send:%d", 200+later)
		out, errs, report := runVariant(t, "long", 3, faults, &secondKill{done: true}) // long enough for three replacements
		healed := map[int]bool{}
		for _, h := range report.Heals {
			healed[h.Replica] = healed[h.Replica] || h.Error == ""
		}
		if report.ExitCode != 0 || len(report.Deaths) != 2 || !healed[0] || !healed[2] {
			t.Errorf("%d messages later: exit code %d, heals %+v\n%s", later, report.ExitCode, report.Heals, errs)
		}
		for r := range 3 {
			if lines(out, r) != lines(want, r) {
				t.Errorf("%d messages later: rank %d wrote\n%s, undisturbed\n%s", later, r, lines(out, r), lines(want, r))
			}
		}
	}
}

// heals is how long TestHealsOn lasts.
var heals = flag.Duration("heals", 0, "kill and heal replicas for so long")

// culler kills processes of a job of 3 ranks with 3 replicas. It leaves two replicas of each rank
// alone: a replacement counts only when the launcher has said that it is back. Before that it has
// no state, and can't be a donor.
type culler struct {
	stderr *secondKill
	down   map[int]int // by process: how many of its replacements were back when it was killed
}

// isDown says whether a process was killed, and no replacement of it is back.
func (c *culler) isDown(proc int) bool {
	back, killed := c.down[proc]
	return killed && c.back(proc) == back
}

// back is how often a replacement of a process was said to be back.
func (c *culler) back(proc int) int {
	return strings.Count(c.stderr.text(), fmt.Sprintf("rank %d: replica %d is back", proc%3, proc/3))
}

// kill kills one of the processes, if its rank can do without it.
func (c *culler) kill(rng *rand.Rand) {
	living := processes()
	if len(living) == 0 {
		return
	}
	pid := living[rng.IntN(len(living))]
	proc := procOf(pid)
	if proc < 0 {
		return // it has ended, or begins
	}
	for other := proc % 3; other < 9; other += 3 {
		if other != proc && c.isDown(other) {
			return
		}
	}
	c.down[proc] = c.back(proc)
	syscall.Kill(pid, syscall.SIGKILL)
}

// TestHealsOn kills random processes of the job again and again. As long as two of a rank's three
// replicas are alive at a time, each dead one is replaced, and the output is the undisturbed one.
func TestHealsOn(t *testing.T) {
	want, _, _ := runWithDeaths(t, "", false, 0)
	deaths, begin := 0, time.Now()
	for seed := uint64(1); deaths == 0 || time.Since(begin) < *heals; seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		over := make(chan bool)
		var killer sync.WaitGroup
		stderr := &secondKill{done: true}
		cull := &culler{stderr, make(map[int]int)}
		killer.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(time.Duration(20+rng.IntN(200)) * time.Millisecond):
				}
				cull.kill(rng)
			}
		})
		out, errs, report := runVariant(t, "", 3, "", stderr)
		close(over)
		killer.Wait()
		deaths += len(report.Deaths)
		if report.ExitCode != 0 {
			t.Errorf("seed %d: exit code %d\n%s", seed, report.ExitCode, errs)
		}
		for r := range 3 {
			if lines(out, r) != lines(want, r) {
				t.Errorf("seed %d: rank %d wrote\n%s, undisturbed\n%s\nstderr:\n%s", seed, r, lines(out, r), lines(want, r), errs)
			}
		}
	}
	t.Logf("%d deaths", deaths)
}

// TestUnhealed: if a rank can't be healed the launcher says why, and the job goes on.
func TestUnhealed(t *testing.T) {
	want, _, _ := runWithDeaths(t, "", false, 0)
	for way, why := range map[string]string{
		"sends otherwise":      "up to its first safe point it doesn't do what the other replicas did",
		"registers otherwise":  `the state is not that of this program: "the program's large" has 160000 bytes, but 800 are registered here`,
		"receives much":        "can't be the donor of its rank: it has received more than 64 MiB before its first safe point",
		"receives ahead":       "can't be the donor of its rank: operations that have been started, and not completed: 1",
		"registers nothing":    "can't be the donor of its rank: the program has registered no state",
		"makes a communicator": "can't be the donor of its rank at this safe point: a communicator of 3 ranks",
	} {
		if testing.Short() && way != "registers otherwise" {
			continue
		}
		out, errs, report := runWithDeaths(t, way, true, 1)
		hopeless := way == "registers otherwise" // other variants may be healed by chance
		if report.ExitCode != 0 || !strings.Contains(errs, why) || strings.Contains(errs, "is back") || hopeless && len(report.Heals) != 1 {
			t.Errorf("%s: exit code %d, stderr\n%s", way, report.ExitCode, errs)
		}
		for r := range 3 {
			if lines(out, r) != lines(want, r) {
				t.Errorf("%s: rank %d wrote\n%s, undisturbed\n%s", way, r, lines(out, r), lines(want, r))
			}
		}
	}
}
