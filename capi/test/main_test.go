// Package test tests the C library with the C programs in testdata. It compiles them against
// abi/mpi.h, and starts them alone or with banyan run.
package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/testing/scratch"
)

var (
	dir    string // the directory of an installation and of the compiled programs
	header string // the directory of mpi.h
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if _, err := exec.LookPath("gcc"); err != nil {
		fmt.Println("these tests need a C compiler; scripts/tools.sh installs one:", err)
		return 0
	}
	made, err := scratch.Make()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer made.Remove()
	dir = made.Path
	header = filepath.Join(dir, "include")
	build := exec.Command("../../scripts/library.sh", dir)
	build.Env = append(os.Environ(), "PROFILE=off", // it would compile everything again
		"KEPT="+scratch.KeptDir)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("scripts/library.sh: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

var compiled sync.Map // source → func() error

// compile builds testdata/name.c once and returns the program's path. The library is
// linked unless a flag says otherwise.
func compile(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(dir, name)
	once, _ := compiled.LoadOrStore(name, sync.OnceValue(func() error {
		args := []string{"-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-pthread", "-I", header, "-o", out, filepath.Join("testdata", name+".c")}
		if len(flags) == 0 {
			flags = []string{filepath.Join(dir, "lib", "libmpi_abi.so.1"), "-Wl,-rpath," + filepath.Join(dir, "lib")}
		}
		if text, err := exec.Command("gcc", append(args, flags...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("gcc %s: %v\n%s", name, err, text)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return out
}

// outcome is how a program ended.
type outcome struct {
	stdout, stderr string
	code           int // -1: the signal ended it
	signal         syscall.Signal
}

func (o outcome) String() string {
	s := fmt.Sprintf("exit code %d", o.code)
	if o.signal != 0 {
		s = o.signal.String()
	}
	return fmt.Sprintf("%s\nstdout: %.2000s\nstderr: %.2000s", s, o.stdout, o.stderr)
}

// run runs a program to its end, for at most a minute.
func run(t *testing.T, program string, args ...string) outcome {
	t.Helper()
	return runOn(t, nil, program, args...)
}

// runOn is run with a standard input.
func runOn(t *testing.T, stdin io.Reader, program string, args ...string) outcome {
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
	o := outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		o.signal = status.Signal()
	}
	return o
}

// job runs a program as n ranks.
func job(t *testing.T, n int, program string, args ...string) outcome {
	t.Helper()
	return run(t, tool("banyan"), append([]string{"run", "-n", fmt.Sprint(n), program}, args...)...)
}

// noTrace fails the test if Go's runtime has printed something.
func (o outcome) noTrace(t *testing.T) {
	t.Helper()
	for _, s := range []string{"goroutine ", "runtime.", "panic:", "fatal error:"} {
		if strings.Contains(o.stderr, s) {
			t.Errorf("Go's runtime shows:\n%.3000s", o.stderr)
			return
		}
	}
}

// fine fails the test if the program failed, or Go's runtime has printed something.
func (o outcome) fine(t *testing.T) {
	t.Helper()
	if o.code != 0 {
		t.Errorf("%v", o)
	}
	o.noTrace(t)
}
