//go:build linux && amd64

package instructions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// loop executes two instructions a pass between two marks, and has a second thread.
const loop = `
#include <pthread.h>
#include <unistd.h>
static __attribute__((noinline)) void mark(void) { __asm__ volatile("int3"); }
static __attribute__((noinline)) void turns(void)
{
	__asm__ volatile("mov $%d, %%%%ecx\n1: dec %%%%ecx\njnz 1b" ::: "ecx", "cc");
}
static void *idle(void *p) { for (;;) usleep(100); return p; }
int main(void)
{
	char go;
	pthread_t other;
	pthread_create(&other, NULL, idle, NULL);
	if (read(0, &go, 1) != 1)
		return 1;
	mark();
	for (int i = 0; i < 4; i++) {
		turns();
		mark();
	}
	return 7;
}
`

func TestCountsALoop(t *testing.T) {
	few, many := stepThrough(t, 100), stepThrough(t, 350)
	for i := range few {
		if d := len(many[i]) - len(few[i]); d != 2*250 {
			t.Errorf("operation %d: 250 turns more are %d instructions, of two each", i, d)
		}
		if n := len(few[i]); n < 200 || n > 250 {
			t.Errorf("operation %d: 100 turns are %d instructions", i, n)
		}
	}
}

// started is the loop with so many passes, and a writer that lets it begin.
func started(t *testing.T, turns int) (*exec.Cmd, io.Writer) {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "loop.c"), filepath.Join(dir, "loop")
	if err := os.WriteFile(source, fmt.Appendf(nil, loop, turns), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-O1", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("no C compiler: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	t.Cleanup(func() { watchdog.Stop() })
	return cmd, stdin
}

// stepThrough counts three operations of so many passes.
func stepThrough(t *testing.T, turns int) []Operation {
	t.Helper()
	cmd, stdin := started(t, turns)
	ops, m, err := steps(t.Context(), cmd.Process.Pid, 3, func() error {
		_, err := io.WriteString(stdin, "x")
		return err
	}, func() {})
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		if os.IsPermission(err) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("the program went on to %v", cmd.ProcessState)
	}
	c := least(ops, &Symbols{maps: m, files: map[string][]symbol{}})
	if p := c.Profile()[0]; p.Function != "turns" || p.Instructions < 2*turns {
		t.Errorf("the function with the most instructions is %v", p)
	}
	return ops
}

// A process that ends instead of marking is an error, not a hang.
func TestEndsWithItsProcess(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	if _, _, err := steps(t.Context(), cmd.Process.Pid, 1, stdin.Close, func() {}); err == nil {
		t.Error("a process without marks was counted")
	}
}

// Interrupting a count ends the process, although its other threads are stopped: the kernel
// reports a leader's end only after theirs.
func TestInterrupted(t *testing.T) {
	cmd, stdin := started(t, 1_000_000_000)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, _, err := steps(ctx, cmd.Process.Pid, 1, func() error {
		_, err := io.WriteString(stdin, "x")
		return err
	}, func() {})
	if os.IsPermission(err) {
		cmd.Process.Kill()
		cmd.Wait()
		t.Skip(err)
	}
	if err == nil || errors.Is(err, errStuck) {
		t.Errorf("an interrupted count ended with %v", err)
	}
	if err := syscall.Kill(cmd.Process.Pid, 0); err != syscall.ESRCH { // the tracer has waited for its child
		t.Errorf("the counted process is still there: %v", err)
	}
}
