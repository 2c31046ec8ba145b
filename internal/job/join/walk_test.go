package join_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/mpi"
)

const strides = 2000

// stroll is a program with safe points. Each process writes how far it has come to a file in the
// directory STROLL_DIR. It goes slowly until there is a file "go".
func stroll(world *mpi.Comm) error {
	dir := os.Getenv("STROLL_DIR")
	fmt.Println("here") // a replacement writes this to /dev/null
	if os.Getenv("STROLL_READS") == "at once" {
		os.Stdin.Read(make([]byte, 1))
	}
	step, total := 0, 0
	if err := mpi.Register(world, "step", &step); err != nil {
		return err
	}
	if err := mpi.Register(world, "total", &total); err != nil {
		return err
	}
	for ; step < strides; step++ {
		if _, err := world.Safepoint(); err != nil {
			return err
		}
		sum := []int{0}
		if err := mpi.Allreduce(world, []int{step * (world.Rank() + 1)}, sum, mpi.Sum); err != nil {
			return err
		}
		total += sum[0]
		if step == 10 && os.Getenv("STROLL_READS") == "later" {
			os.Stdin.Read(make([]byte, 1))
		}
		if _, err := os.Stat(filepath.Join(dir, "go")); err != nil {
			leaveNote(dir, strconv.Itoa(os.Getpid()), strconv.Itoa(step))
			time.Sleep(10 * time.Millisecond)
		}
	}
	fmt.Printf("rank %d of %d: %d\n", world.Rank(), world.Size(), total)
	return nil
}

// giveInput gives a stroller something to read, if it is to read.
func giveInput() {
	if os.Getenv("STROLL_READS") == "" {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	w.WriteString("input")
	syscall.Dup2(int(r.Fd()), 0)
}

// leaveNote writes a file at once.
func leaveNote(dir, name, text string) {
	os.WriteFile(filepath.Join(dir, "."+name), []byte(text), 0o666)
	os.Rename(filepath.Join(dir, "."+name), filepath.Join(dir, name))
}

// walk is a job of strollers.
type walk struct {
	t       *testing.T
	dir     string
	members []*member
	ranks   int
}

// quick is δ in tests that stop processes. In others it is longer, so that no live process counts
// as dead on a busy machine.
const quick = env.HeartbeatTimeout + "=1500ms"

// startWalk starts a job of two ranks of two replicas, with some spares, and waits until all
// processes have walked for a while. By then they and the spares are connected to the spare
// leader.
func startWalk(t *testing.T, spares int, set ...string) *walk {
	t.Helper()
	t.Parallel()
	w := &walk{t: t, dir: t.TempDir(), ranks: 2}
	w.members = startAll(t, 4+spares, append([]string{env.HeartbeatTimeout + "=5s", "JOB_TEST_PROGRAM=stroll", "STROLL_DIR=" + w.dir,
		env.Replicas + "=2", env.Entry(env.Spares, spares)}, set...)...)
	for i := range 4 {
		w.until(func() bool { return w.strides(i) >= 20 }, "process %d doesn't begin", i)
	}
	return w
}

// strides is how far a process has come in the program, -1 if it hasn't begun.
func (w *walk) strides(i int) int {
	text, err := os.ReadFile(filepath.Join(w.dir, strconv.Itoa(w.members[i].Cmd.Process.Pid)))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// until waits for a condition. otherwise says what is wrong if it doesn't come true.
func (w *walk) until(is func() bool, otherwise string, args ...any) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf(otherwise+"; %s", append(args, w.stderr())...)
		}
	}
}

// await waits until a process takes further steps.
func (w *walk) await(i int) {
	w.t.Helper()
	from := -1
	w.until(func() bool {
		if from < 0 {
			from = w.strides(i)
		}
		return from >= 0 && w.strides(i) >= from+10
	}, "process %d doesn't take part", i)
}

// awaitOne waits until one of two processes takes further steps.
func (w *walk) awaitOne(i, k int) (one int) {
	w.t.Helper()
	from := map[int]int{i: w.strides(i), k: w.strides(k)}
	w.until(func() bool {
		for one = range from {
			if w.strides(one) > from[one]+10 {
				return true
			}
		}
		return false
	}, "neither %d nor %d takes part", i, k)
	return one
}

func (w *walk) signal(i int, s syscall.Signal) { w.members[i].Cmd.Process.Signal(s) }

// kill kills a process once it takes part.
func (w *walk) kill(i int) {
	w.t.Helper()
	w.await(i)
	w.signal(i, syscall.SIGKILL)
}

func (w *walk) stderr() string {
	var b strings.Builder
	for i, m := range w.members {
		fmt.Fprintf(&b, "%d, at step %d: %s\n", i, w.strides(i), m.Stderr.String())
	}
	return b.String()
}

// finish lets the program end. It checks the exit code of each process, and the result of those
// that end with 0: the result of a rank, or none (-1). Those that began with the job also say
// that they are here.
func (w *walk) finish(want map[int]int) {
	w.t.Helper()
	leaveNote(w.dir, "go", "")
	for i, m := range w.members {
		rank, incarnations := want[i]
		code := m.wait(w.t)
		if rank == anyEnd {
			continue
		}
		total := 0
		for step := range strides {
			total += step * w.ranks * (w.ranks + 1) / 2
		}
		stdout := ""
		if i < 4 {
			stdout = "here\n"
		}
		if incarnations && rank >= 0 {
			stdout += fmt.Sprintf("rank %d of %d: %d\n", rank, w.ranks, total)
		}
		switch {
		case incarnations && (code != 0 || m.Stdout.String() != stdout):
			w.t.Errorf("process %d: exit code %d, output %q, want %q; %s", i, code, m.Stdout.String(), stdout, w.stderr())
		case !incarnations && code == 0:
			w.t.Errorf("process %d: exit code 0", i)
		}
	}
}

// says checks, by a regular expression, what a spare tells the user.
func (w *walk) says(i int, want string) {
	w.t.Helper()
	if !regexp.MustCompile(want).MatchString(w.members[i].Stderr.String()) {
		w.t.Errorf("process %d says %q, not %q", i, w.members[i].Stderr.String(), want)
	}
}

// awaitSays waits until the spare tells it.
func (w *walk) awaitSays(i int, want string) {
	w.t.Helper()
	w.until(func() bool { return regexp.MustCompile(want).MatchString(w.members[i].Stderr.String()) }, "process %d doesn't say %q", i, want)
}

const (
	noResult = -1
	anyEnd   = -2 // it may have been a replacement that was given up, or not have heard of the end
)
