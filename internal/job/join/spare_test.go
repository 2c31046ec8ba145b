package join_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/env"
)

func TestSparesThatNobodyNeeds(t *testing.T) {
	w := startWalk(t, 2)
	w.finish(map[int]int{0: 0, 1: 1, 2: 0, 3: 1, 4: noResult, 5: noResult})
	w.says(4, "^$")
}

// Both replicas of a rank die, one after the other.
func TestSparesTakePlaces(t *testing.T) {
	w := startWalk(t, 2)
	w.kill(1)
	w.await(5) // it is in step with the others
	w.kill(3)
	w.await(4) // the spare leader itself
	w.finish(map[int]int{0: 0, 2: 0, 4: 1, 5: 1})
	w.says(4, `^banyan: rank 1: replica 0 is back after .*s \(pid \d+\), with the state of replica 1\nbanyan: rank 1: replica 1 is back .* replica 0\n$`)
}

func TestNoSpareIsLeft(t *testing.T) {
	w := startWalk(t, 1)
	w.kill(1)
	w.kill(4)
	w.await(3)
	w.finish(map[int]int{0: 0, 2: 0, 3: 1})
	w.says(4, "is back")
}

// A replacement dies: its successor is the third process in the slot.
func TestSpareForASpare(t *testing.T) {
	w := startWalk(t, 2)
	w.kill(2)
	w.kill(5)
	w.await(4)
	w.finish(map[int]int{0: 0, 1: 1, 3: 1, 4: 0})
	w.says(4, "rank 0: replica 1 is back(.|\n)*rank 0: replica 1 is back")
}

// The spare leader dies: the next one doesn't know what happened before.
func TestSpareLeaderDies(t *testing.T) {
	w := startWalk(t, 3)
	w.kill(1)
	w.await(6)
	w.signal(4, syscall.SIGKILL)
	time.Sleep(50 * time.Millisecond)
	w.kill(3) // the donor is one that was healed
	w.await(5)
	w.finish(map[int]int{0: 0, 2: 0, 5: 1, 6: 1})
	w.says(5, "^banyan: rank 1: replica 1 is back .* replica 0\n$")
}

// The spare leader dies when it isn't needed any more. The processes that were told of an earlier
// replacement know that it is one of them.
func TestSpareLeaderDiesAtLast(t *testing.T) {
	w := startWalk(t, 3)
	w.kill(1)
	w.await(6)
	w.kill(2)
	w.await(5)
	w.signal(4, syscall.SIGKILL)
	for _, i := range []int{0, 3, 5, 6} {
		w.await(i)
	}
	w.finish(map[int]int{0: 0, 3: 1, 5: 0, 6: 1})
	w.says(5, "^$")
}

func TestSpareDiesWaiting(t *testing.T) {
	w := startWalk(t, 2)
	w.signal(5, syscall.SIGKILL)
	w.kill(1)
	w.await(4)
	w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: 1})
}

// All replicas of a rank die at once: the job can't go on, and no process stays.
func TestSparesEndWithALostRank(t *testing.T) {
	t.Parallel()
	for reads, want := range map[string]map[int]int{
		"at once": nil,         // no process can be a donor: the spares only wait
		"":        {5: anyEnd}, // it may be a replacement, given up with code 0
	} {
		t.Run(reads, func(t *testing.T) {
			w := startWalk(t, 2, "STROLL_READS="+reads)
			w.signal(1, syscall.SIGKILL)
			w.signal(3, syscall.SIGKILL)
			w.finish(want)
			w.says(0, "is lost")
			w.says(4, "(no process of the job is left|all processes of the job are dead)")
		})
	}
}

func TestSparesEndWithEverybody(t *testing.T) {
	w := startWalk(t, 3, quick)
	// The spares are stopped meanwhile: a leader that saw the first death before the last kill
	// would begin to replace it, and a replacement that is given up ends with 0.
	for i := 4; i < 7; i++ {
		w.signal(i, syscall.SIGSTOP)
	}
	for i := range 5 { // with the spare leader
		w.signal(i, syscall.SIGKILL)
	}
	for i := 5; i < 7; i++ {
		w.signal(i, syscall.SIGCONT)
	}
	w.finish(nil)
	w.says(5, "banyan: spare process 5: no process of the job is there")
}

// Only the process itself can know that it has read input.
func TestInputIsNotForSpares(t *testing.T) {
	t.Parallel()
	for reads, says := range map[string]string{
		"at once": `rank 1 replica 1 can't be the donor of its rank: its program has read input`,
		"later":   `rank 1 replica 1 can't be the donor of its rank at this safe point: its program has read input`,
		"":        "is back",
	} {
		t.Run(reads, func(t *testing.T) {
			w := startWalk(t, 1, "STROLL_READS="+reads)
			for w.strides(3) < 20 {
				w.await(3)
			}
			w.kill(1)
			w.await(3)
			if reads == "" {
				w.await(4)
				w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: 1})
			} else {
				w.awaitSays(4, says)
				w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: noResult})
			}
			w.says(4, says)
		})
	}
}

// A replacement dies early, and another spare is tried.
func TestSpareDiesHealing(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(w *walk){
		"before it has arrived": func(w *walk) {
			w.signal(5, syscall.SIGSTOP)
			w.kill(1)
			time.Sleep(200 * time.Millisecond)
		},
		"early": func(w *walk) { w.kill(1); time.Sleep(10 * time.Millisecond) },
		"late":  func(w *walk) { w.kill(1); time.Sleep(25 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			w := startWalk(t, 2)
			meddle(w)
			w.signal(5, syscall.SIGKILL)
			w.await(4)
			w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: 1})
			w.says(4, "rank 1: replica 0 is back")
		})
	}
}

// A silent process is replaced once the others agree that it is excluded. When it wakes it is
// told so, and doesn't go on beside its successor.
func TestStoppedProcessIsReplaced(t *testing.T) {
	w := startWalk(t, 1, quick)
	w.signal(1, syscall.SIGSTOP)
	w.await(4)
	w.signal(1, syscall.SIGCONT)
	if code := w.members[1].wait(t); code != 1 || !strings.Contains(w.members[1].Stderr.String(), "for dead") {
		t.Errorf("the stopped process ended with %d and said %q", code, w.members[1].Stderr.String())
	}
	w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: 1})
}

// A spare leader is stopped, and another spare leads. When the first wakes it is an ordinary
// spare.
func TestSpareLeaderIsStopped(t *testing.T) {
	w := startWalk(t, 2, quick)
	w.signal(4, syscall.SIGSTOP)
	w.kill(1)
	w.await(5)
	w.signal(4, syscall.SIGCONT)
	w.kill(3)
	w.await(4)
	w.finish(map[int]int{0: 0, 2: 0, 4: 1, 5: 1})
	w.says(5, "rank 1: replica 0 is back(.|\n)*rank 1: replica 1 is back")
}

// The spare leader is stopped when the others leave. They tell the next one, and the waiting
// spares end in order. The first spare leader ends when it wakes: in order if the others didn't
// go on to the next one before they left the job.
func TestSpareLeaderIsStoppedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, spares := range []int{1, 3} {
		t.Run(strconv.Itoa(spares), func(t *testing.T) {
			w := startWalk(t, spares, quick)
			w.signal(4, syscall.SIGSTOP)
			leaveNote(w.dir, "go", "")
			for i, m := range w.members {
				if i != 4 {
					m.wait(t)
				}
			}
			w.signal(4, syscall.SIGCONT)
			w.finish(map[int]int{0: 0, 1: 1, 2: 0, 3: 1, 4: anyEnd, 5: noResult, 6: noResult})
		})
	}
}

// No process is left to be told of the end.
func TestSparesAllDie(t *testing.T) {
	w := startWalk(t, 2)
	w.signal(4, syscall.SIGKILL)
	w.signal(5, syscall.SIGKILL)
	w.await(3)
	w.finish(map[int]int{0: 0, 1: 1, 2: 0, 3: 1})
}

// A replacement that isn't known to all ends with the term of a stopped spare leader, and the
// next one takes another spare.
func TestSpareLeaderIsStoppedHealing(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 10 * time.Millisecond, 25 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			w := startWalk(t, 3, quick)
			w.kill(1)
			time.Sleep(after)
			w.signal(4, syscall.SIGSTOP)
			time.Sleep(4 * time.Second) // then all know that the spare leader is silent
			want := map[int]int{0: 0, 2: 0, 3: 1, 4: anyEnd, 5: anyEnd, 6: anyEnd}
			want[w.awaitOne(5, 6)] = 1
			w.signal(4, syscall.SIGCONT)
			w.finish(want)
		})
	}
}

// A replacement that is stopped halfway is given up after δ, and another one fills the slot.
func TestReplacementIsStopped(t *testing.T) {
	w := startWalk(t, 2, quick)
	w.signal(5, syscall.SIGSTOP)
	w.kill(1)
	w.await(4)
	w.says(4, "rank 1: replica 0 couldn't be replaced: it was silent for 1.5s(.|\n)*rank 1: replica 0 is back")
	w.signal(5, syscall.SIGCONT)
	w.finish(map[int]int{0: 0, 2: 0, 3: 1, 4: 1, 5: anyEnd})
}

func TestSparesNeedReplicas(t *testing.T) {
	for set, want := range map[string]string{
		env.Spares + "=1": "no rank has replicas",
		env.Spares + "=2": "leaves none for the job",
		env.Spares + "=x": "must be a number",
	} {
		for _, m := range startAll(t, 2, "JOB_TEST_PROGRAM=stroll", set) {
			if code := m.wait(t); code != 1 || !strings.Contains(m.Stderr.String(), want) {
				t.Errorf("%s: exit code %d, stderr %q", set, code, m.Stderr.String())
			}
		}
	}
}

// The same under Hydra, where there is one.
func TestSparesUnderHydra(t *testing.T) {
	hydra, err := exec.LookPath("mpiexec.hydra")
	if err != nil {
		t.Skip("MPICH's mpiexec.hydra isn't installed")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, hydra, "-disable-auto-cleanup", "-genv", env.Replicas, "2", "-genv", env.Spares, "2",
		"-n", "6", "../../../scripts/shield.sh", os.Args[0])
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "JOB_TEST_PROGRAM=stroll", "STROLL_DIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Hydra ends its processes then.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := map[int]bool{}
	// strollers are the processes that take part, by the files that they write. One that is
	// killed may have written just before.
	strollers := func(n int) (pids []int) {
		for len(pids) < n && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			pids = nil
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if pid, err := strconv.Atoi(e.Name()); err == nil && !killed[pid] {
					pids = append(pids, pid)
				}
			}
		}
		return pids
	}
	for range 2 {
		pids := strollers(4)
		if len(pids) > 0 {
			syscall.Kill(pids[0], syscall.SIGKILL)
			killed[pids[0]] = true
		}
		strollers(4)
	}
	leaveNote(dir, "go", "")
	err = cmd.Wait()
	if n := strings.Count(stdout.String(), "rank 0 of 2: ") + strings.Count(stdout.String(), "rank 1 of 2: "); err != nil || n != 4 || strings.Count(stderr.String(), "is back") != 2 {
		t.Errorf("%v\nstdout: %s\nstderr: %s", err, stdout.String(), stderr.String())
	}
}
