package launcher

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	lib "banyan/mpi" // mpi is a type of helper_test.go
)

// testSilence is longer than any process may be silent with the default heartbeats, which these
// tests use.
const testSilence = 5 * DefaultHeartbeatTimeout / 2

// live is a program of real ranks. Each prints its process id. Then rank 1 doesn't call the library
// for a while, and the others wait for it.
func live(what string, d time.Duration) {
	lib.Main(func(world *lib.Comm) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		fmt.Printf("rank %d has pid %d\n", world.Rank(), os.Getpid())
		if world.Rank() == 1 {
			absent(what, d)
		}
		if what == "leaves late" {
			return nil
		}
		return world.Barrier()
	})
}

// computed keeps the compiler from dropping a computation.
var computed atomic.Uint64

// absent doesn't call the library for a while.
func absent(what string, d time.Duration) {
	end := time.Now().Add(d)
	compute := func() {
		x := 0.5
		for time.Now().Before(end) {
			for range 1 << 20 { // calls nothing, so it never yields by itself
				x = 3.9 * x * (1 - x)
			}
		}
		computed.Store(math.Float64bits(x))
	}
	switch what {
	case "computes":
		compute()
	case "computes with many goroutines":
		for range runtime.GOMAXPROCS(0) {
			go compute()
		}
		compute()
	case "computes with GOMAXPROCS=1":
		runtime.GOMAXPROCS(1)
		compute()
	case "is in a long call": // the Go runtime knows of it, as of every call of C
		ts := unix.NsecToTimespec(int64(d))
		unix.Nanosleep(&ts, nil)
	case "is in a long call that Go doesn't know of":
		for time.Now().Before(end) {
			ts := unix.NsecToTimespec(int64(time.Until(end)))
			unix.RawSyscall(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&ts)))
		}
	case "sleeps", "leaves late":
		time.Sleep(d)
	}
}

// liveJob is a running job of the program live.
type liveJob struct {
	t    *testing.T
	out  *lockedBuffer
	done chan outcome
}

// startLive starts a job of three ranks.
func startLive(t *testing.T, c Config, what string, d time.Duration) *liveJob {
	t.Helper()
	j := &liveJob{t: t, out: &lockedBuffer{}, done: make(chan outcome, 1)}
	c.Ranks = 3
	c = complete(c, []string{"live", what, d.String()})
	var stderr lockedBuffer
	c.Stdout, c.Stderr = j.out, &stderr
	go func() {
		r, err := Run(c)
		if err != nil {
			t.Error(err)
		}
		j.done <- outcome{r, j.out.String(), stderr.String()}
	}()
	return j
}

var pidLine = regexp.MustCompile(`rank (\d) has pid (\d+)\n`)

// pids waits until all ranks have begun, and returns their process ids.
func (j *liveJob) pids() []int {
	j.t.Helper()
	pids := make([]int, 3)
	await(j.t, "all ranks have begun", func() bool {
		all := pidLine.FindAllStringSubmatch(j.out.String(), -1)
		for _, m := range all {
			rank, _ := strconv.Atoi(m[1])
			pids[rank], _ = strconv.Atoi(m[2])
		}
		return len(all) == len(pids)
	})
	return pids
}

// end waits for the job's end.
func (j *liveJob) end() outcome {
	j.t.Helper()
	select {
	case o := <-j.done:
		return o
	case <-time.After(30 * time.Second):
		j.t.Fatal("the job hangs")
		return outcome{}
	}
}

// expectNoDeath checks that the job ends with 0 and without deaths.
func (j *liveJob) expectNoDeath() {
	j.t.Helper()
	if o := j.end(); o.report == nil || o.report.ExitCode != 0 || len(o.report.Deaths) > 0 {
		j.t.Errorf("stderr %q, report %+v", o.stderr, o.report)
	}
}

// A process that doesn't call the library still sends heartbeats.
func TestAbsentIsNotSilent(t *testing.T) {
	for _, what := range []string{"computes", "computes with many goroutines", "computes with GOMAXPROCS=1", "is in a long call",
		"is in a long call that Go doesn't know of"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			startLive(t, Config{}, what, testSilence).expectNoDeath()
		})
	}
}

// A process that is stopped while it waits for the others to leave is found, although all of them
// have left by then.
func TestStoppedInShutdown(t *testing.T) {
	j := startLive(t, Config{}, "leaves late", 600*time.Millisecond)
	pids := j.pids()
	time.Sleep(300 * time.Millisecond)
	unix.Kill(pids[2], unix.SIGSTOP)
	o := j.end()
	if d := o.report.Deaths; len(d) != 1 || d[0].Cause != CauseSilence || d[0].Rank != 2 {
		t.Errorf("stderr %q, report %+v", o.stderr, o.report)
	}
}

// A stopped process is held for dead, unless a debugger stopped it, the whole job is stopped, or
// the user has asked for debugging.
func TestStopped(t *testing.T) {
	stop := func(pids ...int) {
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGSTOP)
		}
		time.Sleep(testSilence)
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGCONT)
		}
	}
	t.Run("by a signal", func(t *testing.T) {
		t.Parallel()
		j := startLive(t, Config{}, "sleeps", 2*testSilence)
		go stop(j.pids()[1])
		o := j.end()
		if d := o.report.Deaths; len(d) == 0 || d[0].Cause != CauseSilence || d[0].Rank != 1 {
			t.Errorf("stderr %q, report %+v", o.stderr, o.report)
		}
	})
	t.Run("by a signal, with debug", func(t *testing.T) {
		t.Parallel()
		j := startLive(t, Config{Debug: true}, "sleeps", testSilence)
		stop(j.pids()[1])
		j.expectNoDeath()
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		j := startLive(t, Config{}, "sleeps", testSilence)
		stop(j.pids()...)
		j.expectNoDeath()
	})
	t.Run("by a debugger", func(t *testing.T) {
		t.Parallel()
		j := startLive(t, Config{}, "sleeps", testSilence)
		detach := attach(t, j.pids()[1])
		time.Sleep(testSilence)
		detach()
		j.expectNoDeath()
	})
	t.Run("by a debugger, below a shell", func(t *testing.T) {
		t.Parallel()
		c := complete(Config{}, []string{"live", "sleeps", testSilence.String()})
		c.Args = append([]string{"-c", `"$0" "$@"; exit $?`, c.Program}, c.Args...)
		c.Program = "sh"
		j := startLive(t, c, "", 0)
		detach := attach(t, j.pids()[1])
		time.Sleep(testSilence)
		detach()
		j.expectNoDeath()
	})
	t.Run("by a debugger, and then by a signal", func(t *testing.T) {
		t.Parallel()
		j := startLive(t, Config{}, "sleeps", 2*testSilence)
		pid := j.pids()[1]
		detach := attach(t, pid)
		time.Sleep(testSilence)
		detach()
		time.Sleep(DefaultHeartbeatTimeout)
		unix.Kill(pid, unix.SIGSTOP)
		if d := j.end().report.Deaths; len(d) == 0 || d[0].Cause != CauseSilence || d[0].Rank != 1 {
			t.Errorf("it is excused for ever: %+v", d)
		}
	})
}

// Ctrl-Z and fg, as the shell does them.
func TestSuspendedJobGoesOn(t *testing.T) {
	t.Parallel()
	cmd, lines := startLauncher(t, Config{Ranks: 3}, 3,
		"live", "sleeps", testSilence.String())
	var pids []int
	for _, l := range lines {
		pids = append(pids, pidOf(t, l))
	}
	cmd.Process.Signal(syscall.SIGTSTP)
	await(t, "everything stops", func() bool {
		for _, pid := range append(pids, cmd.Process.Pid) {
			if state(pid) != 'T' {
				return false
			}
		}
		return true
	})
	time.Sleep(testSilence)
	cmd.Process.Signal(syscall.SIGCONT)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the job hangs")
	}
}

func pidOf(t *testing.T, line string) int {
	t.Helper()
	m := pidLine.FindStringSubmatch(line + "\n")
	if m == nil {
		t.Fatalf("%q names no pid", line)
	}
	pid, _ := strconv.Atoi(m[2])
	return pid
}

// attach has another process stop all threads of a process, as a debugger does. detach lets them go
// on.
func attach(t *testing.T, pid int) (detach func()) {
	t.Helper()
	debugger := exec.Command("/proc/self/exe", strconv.Itoa(pid))
	debugger.Env = append(os.Environ(), roleVariable+"=debugger")
	debugger.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := debugger.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := debugger.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := debugger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { debugger.Process.Kill(); debugger.Wait() })
	switch said, _ := bufio.NewReader(out).ReadString('\n'); said {
	case "attached\n":
	case unix.EPERM.Error() + "\n":
		t.Skip("one process may not trace another here (kernel.yama.ptrace_scope?)")
	default:
		t.Fatalf("the debugger says %q", said)
	}
	return func() { in.Close(); debugger.Wait() }
}

// debug is the debugger. It stops a process until its own standard input ends.
func debug(pid int) error {
	runtime.LockOSThread() // the thread is the tracer
	var tids []int
	if err := seize(pid, &tids); err != nil {
		return err
	}
	for _, tid := range tids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
		if err != nil || !strings.Contains(string(stat), ") t ") {
			return fmt.Errorf("a thread runs: %.40s, %v", stat, err)
		}
	}
	fmt.Println("attached")
	io.Copy(io.Discard, os.Stdin)
	for _, tid := range tids {
		unix.PtraceDetach(tid)
	}
	return nil
}

// seize attaches to all threads of a process, which may start more threads meanwhile.
func seize(pid int, tids *[]int) error {
	known := map[int]bool{}
	for more := true; more; {
		more = false
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			if known[tid] {
				continue
			}
			if err := unix.PtraceAttach(tid); err != nil {
				return err
			}
			known[tid], more = true, true
			*tids = append(*tids, tid)
			var status unix.WaitStatus
			if _, err := unix.Wait4(tid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
				return fmt.Errorf("thread %d: status %#x, %v", tid, status, err)
			}
		}
	}
	return nil
}

// A patrol whose rounds take long makes fewer of them.
func TestPatrol(t *testing.T) {
	p := newPatrol(time.Millisecond)
	<-p.due
	start := time.Now()
	p.make(func() { time.Sleep(2 * time.Millisecond) })
	<-p.due
	if d := time.Since(start); d < patrolShare*2*time.Millisecond {
		t.Errorf("a round of 2ms is made again after %v", d)
	}
}
