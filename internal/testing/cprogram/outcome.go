package cprogram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Outcome is how a program ended.
type Outcome struct {
	Stdout, Stderr string
	Code           int // -1: the signal ended it
	Signal         syscall.Signal
}

func (o Outcome) String() string {
	s := fmt.Sprintf("exit code %d", o.Code)
	if o.Signal != 0 {
		s = o.Signal.String()
	}
	return fmt.Sprintf("%s\nstdout: %.2000s\nstderr: %.2000s", s, o.Stdout, o.Stderr)
}

// Run runs a program to its end, for at most a minute.
func Run(t *testing.T, program string, args ...string) Outcome {
	t.Helper()
	return RunOn(t, nil, program, args...)
}

// RunOn is Run with a standard input.
func RunOn(t *testing.T, stdin io.Reader, program string, args ...string) Outcome {
	t.Helper()
	o := run(t, stdin, program, args...)
	if strings.Contains(o.Stderr, "ERROR: AddressSanitizer") {
		t.Errorf("%s: %.6000s", filepath.Base(program), o.Stderr)
	}
	return o
}

// Unchecked is Run for a program that the sanitizer is to find fault with.
func Unchecked(t *testing.T, program string, args ...string) Outcome {
	t.Helper()
	return run(t, nil, program, args...)
}

func run(t *testing.T, stdin io.Reader, program string, args ...string) Outcome {
	t.Helper()
	const limit = time.Minute // only a program that hangs takes so long
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %s hangs\nstdout: %.2000s\nstderr: %.2000s", filepath.Base(program), strings.Join(args, " "), &stdout, &stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	o := Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		o.Signal = status.Signal()
	}
	return o
}

// Job runs a program as n ranks.
func Job(t *testing.T, n int, program string, args ...string) Outcome {
	t.Helper()
	return Run(t, Tool("banyan"), append([]string{"run", "-n", fmt.Sprint(n), program}, args...)...)
}

// NoTrace fails the test if Go's runtime has printed something.
func (o Outcome) NoTrace(t *testing.T) {
	t.Helper()
	for _, s := range []string{"goroutine ", "runtime.", "panic:", "fatal error:"} {
		if strings.Contains(o.Stderr, s) {
			t.Errorf("Go's runtime shows:\n%.3000s", o.Stderr)
			return
		}
	}
}

// Fine fails the test if the program failed, or Go's runtime has printed something.
func (o Outcome) Fine(t *testing.T) {
	t.Helper()
	if o.Code != 0 {
		t.Errorf("%v", o)
	}
	o.NoTrace(t)
}

// OnHosts are flags of a job whose ranks believe that they are on different hosts, so that they
// share no memory.
func OnHosts(list string) []string {
	return []string{"--host", list, "--launch-agent", "env H={host} {agent}"}
}

// Sorted are the lines of a text in order: ranks print when they like.
func Sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
