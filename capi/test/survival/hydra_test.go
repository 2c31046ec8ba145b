package survival

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/testing/cprogram"
)

var (
	hydraRuns = flag.Int("runs", 2, "how many jobs TestRandomKillsUnderHydra starts")
	hydraSeed = flag.Uint64("seed", 1, "seed of its first job; each job adds 1")
)

// Jobs under Hydra have two ranks of two replicas and three spares. The test kills processes at
// random, spares too. Each job gives the result of an undisturbed job, unless all replicas of a
// rank died before one was replaced. Then it says so. No job hangs or leaves a process behind.
func TestRandomKillsUnderHydra(t *testing.T) {
	mpiexec, err := exec.LookPath("mpiexec.hydra")
	if err != nil {
		t.Skip("MPICH's mpiexec.hydra isn't installed")
	}
	heat := cprogram.Build(t, "mpicc", "../../../examples/heat/heat.c", "../testdata/arrived.c", "-O2", "-lm")
	args := []string{"120", "1e-6"}
	t.Setenv("ARRIVED_DIR", t.TempDir())
	begun := time.Now()
	want := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run", "-n", "2", heat}, args...)...)
	want.Fine(t)
	length := time.Since(begun)
	all := kills{}
	for i := range *hydraRuns {
		seed := *hydraSeed + uint64(i)
		h := &hydraJob{t: t, program: heat, length: length, rng: rand.New(rand.NewPCG(seed, 0)), want: strings.Split(strings.TrimSpace(want.Stdout), "\n")}
		h.run(mpiexec, args...)
		all.add(h.kills)
		if t.Failed() {
			t.Fatalf("-seed %d, after %d deaths and %d replacements; stderr: %.4000s", seed, h.deaths, h.healed, &h.stderr)
		}
		t.Logf("-seed %d: %v", seed, h.kills)
	}
	t.Logf("all %d: %v", *hydraRuns, all)
}

// kills counts deaths, replacements, and jobs by how they ended.
type kills struct {
	deaths, healed             int
	same, sameButCode, lostOne int // how they ended
}

func (k *kills) add(o kills) {
	k.deaths += o.deaths
	k.healed += o.healed
	k.same += o.same
	k.sameButCode += o.sameButCode
	k.lostOne += o.lostOne
}

func (k kills) String() string {
	return fmt.Sprintf("deaths: %d, replacements: %d; jobs with the undisturbed result and exit code 0: %d, with another exit code: %d; that lost a rank: %d",
		k.deaths, k.healed, k.same, k.sameButCode, k.lostOne)
}

// hydraJob is one job.
type hydraJob struct {
	t       *testing.T
	program string
	length  time.Duration // of an undisturbed run
	rng     *rand.Rand
	want    []string // lines of its output

	mu     sync.Mutex
	stderr bytes.Buffer
	read   int             // of stderr
	ranks  [2]map[int]bool // the processes of each rank, by id
	killed map[int]bool    // by id
	empty  bool            // a rank has had no process
	kills
}

// Write takes the job's stderr.
func (h *hydraJob) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stderr.Write(b)
	for {
		line, _, whole := bytes.Cut(h.stderr.Bytes()[h.read:], []byte("\n"))
		if !whole {
			return len(b), nil
		}
		h.read += len(line) + 1
		if m := back.FindSubmatch(line); m != nil {
			rank, _ := strconv.Atoi(string(m[1]))
			pid, _ := strconv.Atoi(string(m[2]))
			h.healed++
			if !h.killed[pid] {
				h.ranks[rank][pid] = true
			}
		}
	}
}

// back is what the spare leader prints when a replica has been replaced.
var back = regexp.MustCompile(`rank (\d): replica \d is back after .* \(pid (\d+)\)`)

func (h *hydraJob) run(mpiexec string, args ...string) {
	t := h.t
	arrived := t.TempDir()
	h.ranks, h.killed = [2]map[int]bool{{}, {}}, map[int]bool{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+10*h.length)
	defer cancel()
	cmd := exec.CommandContext(ctx, mpiexec, append([]string{"-disable-auto-cleanup", "-genv", env.Replicas, "2", "-genv", env.Spares, "3",
		"-n", "7", "../../../scripts/shield.sh", h.program}, args...)...)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, h
	cmd.Env = append(os.Environ(), "ARRIVED_DIR="+arrived)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // Hydra then ends its processes
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() { cmd.Wait(); close(over) }()
	defer func() {
		for _, pid := range h.processes() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	h.disturb(arrived, over)
	<-over
	h.mu.Lock()
	defer h.mu.Unlock()
	code := cmd.ProcessState.ExitCode()
	got := strings.Split(strings.TrimSpace(stdout.String()), "\n") // of all replicas
	slices.Sort(got)
	want := slices.Sorted(slices.Values(h.want))
	switch same := slices.Equal(slices.Compact(got), want); {
	case ctx.Err() != nil:
		t.Error("it hangs")
	case same && code == 0:
		h.same++
	case same && h.deaths > 1: // a replacement was given up, because its donor or its spare leader died
		h.sameButCode++
	case code != 0 && h.empty && strings.Contains(h.stderr.String(), "is lost"):
		h.lostOne++
	default:
		t.Errorf("exit code %d, stdout %.2000q", code, stdout.String())
	}
	for deadline := time.Now().Add(5 * time.Second); len(h.processes()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%d processes are left", len(h.processes()))
			return
		}
	}
}

// disturb kills up to five processes while the job runs. It begins when MPI_Init has returned in
// all replicas: if a process died in MPI_Init, the others would hang in PMI-1's barrier.
func (h *hydraJob) disturb(arrived string, over <-chan struct{}) {
	for entries := []os.DirEntry(nil); len(entries) < 4; entries, _ = os.ReadDir(arrived) {
		select {
		case <-over:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	begun := time.Now()
	for _, pid := range h.processes() {
		if rank := h.launcherRank(pid); rank < 4 {
			h.mu.Lock()
			h.ranks[rank%2][pid] = true
			h.mu.Unlock()
		}
	}
	times := make([]time.Duration, 1+h.rng.IntN(5))
	for i := range times {
		// It waits first: the spares, which have passed the barrier too, still ask for each
		// other's addresses.
		times[i] = 200*time.Millisecond + time.Duration(h.rng.Float64()*float64(2*h.length))
	}
	slices.Sort(times)
	for _, at := range times {
		select {
		case <-over:
			return
		case <-time.After(at - time.Since(begun)):
		}
		pids := h.processes()
		if len(pids) == 0 {
			return
		}
		h.kill(pids[h.rng.IntN(len(pids))])
	}
}

func (h *hydraJob) kill(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		return
	}
	h.deaths++
	h.killed[pid] = true
	for _, processes := range h.ranks {
		delete(processes, pid)
		h.empty = h.empty || len(processes) == 0
	}
}

// processes returns the ids of the program's processes that run, in the order of their launcher
// ranks.
func (h *hydraJob) processes() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, name := range names {
		if program, err := os.Readlink(name); err == nil && program == h.program {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if h.launcherRank(pid) >= 0 {
				pids = append(pids, pid)
			}
		}
	}
	slices.SortFunc(pids, func(a, b int) int { return h.launcherRank(a) - h.launcherRank(b) })
	return pids
}

// launcherRank is the rank that Hydra gave a process, -1 if the process has ended.
func (h *hydraJob) launcherRank(pid int) int {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if _, rest, is := bytes.Cut(env, []byte("\x00PMI_RANK=")); err == nil && is {
		number, _, _ := bytes.Cut(rest, []byte{0})
		rank, _ := strconv.Atoi(string(number))
		return rank
	}
	return -1
}
