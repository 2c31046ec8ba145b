// Package pmitest starts programs, for tests, as another launcher than "banyan run" would. They
// find each other by PMI only (package pmi), and no launcher tells them of deaths.
//
// Every process ends when its test ends, or the process of the test, if not before.
package pmitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/pmi"
)

// Process is a program that was started.
type Process struct {
	*exec.Cmd
	Stdout, Stderr Output
	ended          chan struct{} // closed when the process has ended
}

// Output is what a process has written so far.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the output.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Start starts a job of n processes. command makes the command of each, with its environment.
func Start(t testing.TB, n int, command func(i int) *exec.Cmd) []*Process {
	t.Helper()
	server := pmi.NewServer(n, "test", func(int, int, string) {})
	all := make([]*Process, n)
	for i := range all {
		cmd := command(i)
		attached := Attach(t, server, cmd, i, n)
		all[i] = Alone(t, cmd)
		attached()
		go func() {
			<-all[i].ended
			server.Gone(i)
		}()
	}
	return all
}

// Attach makes a program that is about to be started process i of the n processes of a server.
// attached must be called when the program has been started.
func Attach(t testing.TB, server *pmi.Server, cmd *exec.Cmd, i, n int) (attached func()) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	cmd.Env = append(cmd.Env, fmt.Sprint("PMI_FD=", 2+len(cmd.ExtraFiles)), fmt.Sprint("PMI_RANK=", i), fmt.Sprint("PMI_SIZE=", n))
	return func() {
		theirs.Close()
		go server.Serve(i, ours)
	}
}

// Alone starts a program that isn't part of a job.
func Alone(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	go func() {
		defer close(p.ended)
		cmd.Wait() // ProcessState has the exit code
	}()
	return p
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Await waits for the end of the process and returns its exit code, -1 after a signal. The test
// fails if that takes longer than the limit.
func (p *Process) Await(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatalf("a process hangs; stdout: %.2000s, stderr: %.2000s", &p.Stdout, &p.Stderr)
	}
	return p.ProcessState.ExitCode()
}
