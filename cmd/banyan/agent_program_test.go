package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/control"
)

// startAgent starts banyan agent.
func startAgent(t *testing.T, key secure.Key, args ...string) (c *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	c = exec.Command("banyan", append([]string{"agent"}, args...)...)
	// Something follows the key, as when a shell goes on reading.
	c.Stdin, c.Stderr = bytes.NewReader(append(key.Line(), "more"...)), stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c, stderr
}

func listenForAgents(t *testing.T) (*remote.Listener, secure.Key) {
	t.Helper()
	key := secure.NewKey()
	l, err := remote.Listen("127.0.0.1:0", key, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, key
}

func expect(t *testing.T, l *remote.Listener, number int) *remote.Remote {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := l.Expect(ctx, number)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The agent starts a program, and ends with its launcher.
func TestAgent(t *testing.T) {
	l, key := listenForAgents(t)
	c, stderr := startAgent(t, key, "--connect", "127.0.0.1:1,"+l.Addresses()[0], "--number", "2")
	r := expect(t, l, 2)
	spec := agent.Spec{
		Proc: 0, Path: "/bin/sh", Argv: []string{"sh", "-c", "echo $A; cat; env; exit 3"}, Env: []string{"A=b"}, Dir: "/", Input: agent.SomeInput,
	}
	procs, err := r.Start([]agent.Spec{spec})
	if err != nil {
		t.Fatal(err)
	}
	p := procs[0]
	go p.Listen(func(control.Message) {})
	io.WriteString(p.Stdin(), "input\n")
	p.Stdin().Close()
	out, err := io.ReadAll(p.Stdout())
	end, waitErr := p.Wait()
	if err != nil || waitErr != nil || !strings.HasPrefix(string(out), "b\ninput\n") || end.Status.ExitStatus() != 3 {
		t.Errorf("%q, %v; %v, %v", out, err, end, waitErr)
	}
	if digits := string(key.Line()[:10]); strings.Contains(string(out), digits) {
		t.Error("the program has the key")
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.Process.Pid))
	if err != nil || bytes.Contains(line, key.Line()[:10]) {
		t.Errorf("%q, %v", line, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, stderr)
	}
}

// A signal ends the agent and its processes, and the launcher knows it at once.
func TestAgentIsTold(t *testing.T) {
	l, key := listenForAgents(t)
	c, stderr := startAgent(t, key, "--connect", l.Addresses()[0], "--number", "0")
	r := expect(t, l, 0)
	procs, err := r.Start([]agent.Spec{{Path: "/bin/sleep", Argv: []string{"sleep", "1000"}}})
	if err != nil {
		t.Fatal(err)
	}
	go procs[0].Listen(func(control.Message) {})
	c.Process.Signal(os.Interrupt)
	if _, err := procs[0].Wait(); err != agent.ErrHostLost {
		t.Error(err)
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", procs[0].PID())); err == nil {
		t.Error("the process is left")
	}
}

// child is the one process that a process has started.
func child(t *testing.T, of int) int {
	t.Helper()
	// Whichever of its threads has started it.
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of))
	var pid int
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		if n, _ := fmt.Sscan(string(b), &pid); n == 1 {
			return pid
		}
	}
	t.Fatalf("process %d has no children: %q, %v", of, lists, err)
	return 0
}

// gone waits until there is no such process.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is left", pid)
		}
	}
}

// When the agent is killed, its guard ends everything that it has started, and says so: the
// launcher has the agent's last words, and doesn't wait for the lease.
func TestAgentIsKilled(t *testing.T) {
	l, key := listenForAgents(t)
	c, stderr := startAgent(t, key, "--connect", l.Addresses()[0], "--number", "0")
	r := expect(t, l, 0)
	spec := agent.Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "setsid sleep 1000 >/dev/null & echo $!; exec sleep 1001"}, Env: os.Environ()}
	procs, err := r.Start([]agent.Spec{spec})
	if err != nil {
		t.Fatal(err)
	}
	go procs[0].Listen(func(control.Message) {})
	var stray int
	if _, err := fmt.Fscan(procs[0].Stdout(), &stray); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(child(t, c.Process.Pid), syscall.SIGKILL)
	if _, err := procs[0].Wait(); err != agent.ErrHostLost {
		t.Error(err)
	}
	gone(t, procs[0].PID())
	gone(t, stray)
	if !strings.Contains(r.Reason(), "died with its processes: it was ended by signal 9") {
		t.Error(r.Reason())
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// An agent that is stopped is killed by its kernel when its lease ends, and with it its processes,
// also those that are stopped. The guard says so.
func TestAgentIsStopped(t *testing.T) {
	key := secure.NewKey()
	l, err := remote.Listen("127.0.0.1:0", key, remote.Options{Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, _ := startAgent(t, key, "--connect", l.Addresses()[0], "--number", "0")
	r := expect(t, l, 0)
	sleep := agent.Spec{Path: "/bin/sleep", Argv: []string{"sleep", "1000"}}
	stopped := sleep
	stopped.Proc = 1
	procs, err := r.Start([]agent.Spec{sleep, stopped})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		go p.Listen(func(control.Message) {})
	}
	syscall.Kill(procs[1].PID(), syscall.SIGSTOP)
	syscall.Kill(child(t, c.Process.Pid), syscall.SIGSTOP)
	for _, p := range procs {
		if _, err := p.Wait(); err != agent.ErrHostLost {
			t.Error(err)
		}
		gone(t, p.PID())
	}
	// On a slow machine the launcher may have seen the lease's end before the guard spoke.
	if why := r.Reason(); !strings.Contains(why, "ended by signal 9") && !strings.Contains(why, "lease") {
		t.Error(why)
	}
}

// When the guard is killed the agent ends in order.
func TestGuardIsKilled(t *testing.T) {
	l, key := listenForAgents(t)
	c, _ := startAgent(t, key, "--connect", l.Addresses()[0], "--number", "0")
	r := expect(t, l, 0)
	procs, err := r.Start([]agent.Spec{{Path: "/bin/sleep", Argv: []string{"sleep", "1000"}}})
	if err != nil {
		t.Fatal(err)
	}
	go procs[0].Listen(func(control.Message) {})
	c.Process.Kill()
	if _, err := procs[0].Wait(); err != agent.ErrHostLost {
		t.Error(err)
	}
	gone(t, procs[0].PID())
	if !strings.Contains(r.Reason(), "its agent has killed its processes") {
		t.Error(r.Reason())
	}
}

// Both sides say in one line that the keys differ.
func TestAgentOfAnotherJob(t *testing.T) {
	l, _ := listenForAgents(t)
	c, stderr := startAgent(t, secure.NewKey(), "--connect", l.Addresses()[0], "--number", "0")
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "it has another job's key") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}
