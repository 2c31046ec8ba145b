package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// running is a job that a test has started on the console.
type running struct {
	t      *testing.T
	on     *cluster.Cluster
	args   []string
	cmd    *exec.Cmd
	cancel func()
	ended  chan struct{}
	hung   bool // it was ended because it took too long; to be read after ended
	mu     sync.Mutex
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// limit is how long a job may take, on a machine with much else to do.
const limit = 2 * time.Minute

// start starts a job on the console. When the test ends it is killed, and the cluster healed.
func start(t *testing.T, on *cluster.Cluster, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	j := &running{t: t, on: on, args: args, cancel: cancel, ended: make(chan struct{})}
	j.cmd = on.Script(ctx, append([]string{"run"}, args...)...)
	j.cmd.Stdout, j.cmd.Stderr = writer{j, &j.stdout}, writer{j, &j.stderr}
	j.cmd.Cancel = func() error { return j.cmd.Process.Signal(syscall.SIGTERM) }
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		j.cmd.Wait()
		j.hung = errors.Is(ctx.Err(), context.DeadlineExceeded)
		close(j.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-j.ended
		if t.Failed() {
			out := j.printed()
			t.Logf("%s: %v\nstdout: %s\nstderr: %.4000s", strings.Join(args, " "), j.cmd.ProcessState, out[max(0, len(out)-2000):], j.complained())
		}
		on.Heal(t)
	})
	return j
}

type writer struct {
	j  *running
	to *bytes.Buffer
}

func (w writer) Write(b []byte) (int, error) {
	w.j.mu.Lock()
	defer w.j.mu.Unlock()
	return w.to.Write(b)
}

// printed is what the job has printed so far.
func (j *running) printed() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stdout.String()
}

// count says how often the job has printed something.
func (j *running) count(text string) int { return strings.Count(j.printed(), text) }

// complained is what it has said on its stderr.
func (j *running) complained() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stderr.String()
}

// await waits until the job has printed something so many times.
func (j *running) await(text string, times int) {
	j.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for j.count(text) < times {
		select {
		case <-tick.C:
		case <-j.ended:
			if got := j.count(text); got < times {
				j.t.Fatalf("the job ended with %q %d times, not %d", text, got, times)
			}
		}
	}
}

// awaitTold waits until the job has said something so many times on its stderr.
func (j *running) awaitTold(text string, times int) {
	j.t.Helper()
	until(j.t, "the job says "+text, func() bool {
		if strings.Count(j.complained(), text) >= times {
			return true
		}
		if j.over() {
			j.t.Fatalf("the job has ended, and hasn't said %q", text)
		}
		return false
	})
}

// over says whether the job has ended.
func (j *running) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// fault does what the words say, which must be done before the job ends.
func (j *running) fault(words string) {
	j.t.Helper()
	j.on.Fault(j.t, words)
	if j.over() {
		j.t.Fatalf("the job ended before %q was done: it is too short", words)
	}
}

// end waits for the job's end and returns its exit code, -1 if a signal ended it.
func (j *running) end() int {
	j.t.Helper()
	<-j.ended
	if j.hung {
		j.t.Fatal("it hangs")
	}
	return j.cmd.ProcessState.ExitCode()
}

// stop asks what started the job to end, which it does somehow.
func (j *running) stop() {
	j.cancel()
	<-j.ended
}

// finish waits for the job's end with exit code 0.
func (j *running) finish() {
	j.t.Helper()
	if code := j.end(); code != 0 {
		j.t.Fatalf("exit code %d", code)
	}
}

// nothingLeft says that, some time after the job's end, nothing of it is left on any host.
func nothingLeft(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	var left string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		left = on.Left(t)
		for _, word := range lastWord.FindAllStringSubmatch(left, -1) {
			hear(t, on, word[1], word[2])
		}
		if left == "" {
			return
		}
	}
	t.Errorf("this is left:\n%s", left)
}

// lastWord is a line of Left: what a host that was cut off has to say about a job.
var lastWord = regexp.MustCompile(`(?m)^h(\d+) file (\S+)\.log$`)

// hear attaches to a job on a host that was cut off from it. It says why its processes have ended,
// once.
func hear(t *testing.T, on *cluster.Cluster, host, job string) {
	t.Helper()
	out, err := on.Script(t.Context(), "on", host, "bin/banyan", "attach", job).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "h"+host+" couldn't reach most of the machines that vote") {
		t.Errorf("h%s says of %s: %v\n%s", host, job, err, out)
	}
}
