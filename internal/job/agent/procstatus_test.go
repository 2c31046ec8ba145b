package agent

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A shell is stopped at any moment. Often it waits for its vfork, and then the kernel never reports
// it as stopped.
func TestStoppedInVfork(t *testing.T) {
	tries := 100
	if testing.Short() {
		tries = 20
	}
	for i := range tries {
		cmd := exec.Command("sh", "-c", "while :; do /bin/true; done")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%10) * time.Millisecond)
		p := &localProcess{pid: cmd.Process.Pid}
		p.Signal(syscall.SIGSTOP)
		// Seeing the stop once is enough: while a pending stop becomes a real one, the kernel
		// reports neither.
		seen := p.State().Stopped
		for deadline := time.Now().Add(5 * time.Second); !seen && time.Now().Before(deadline); seen = p.State().Stopped {
			time.Sleep(time.Millisecond)
		}
		p.Signal(syscall.SIGKILL)
		cmd.Wait()
		if !seen {
			t.Fatalf("try %d: the stop of a shell wasn't seen", i)
		}
	}
}

func TestStopPending(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tsh\nState:\tD (disk sleep)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000050000\n": true,
		"Name:\tsh\nState:\tD (disk sleep)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000010000\n": false,
		"Name:\tsh\n": false,
		"":            false,
	} {
		if got := stopPending([]byte(status)); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}

func TestTracerOf(t *testing.T) {
	for status, want := range map[string]string{
		"Name:\tx\nState:\tS (sleeping)\nTracerPid:\t0\nUid:\t0\n": "0",
		"Name:\tx\nTracerPid:\t4711\nUid:\t0\n":                    "4711",
		"Name:\tTracerPid:\t1\n":                                   "0", // the name may be anything
		"":                                                         "0",
	} {
		if got := tracerOf([]byte(status)); got != want {
			t.Errorf("%q: got %q, want %q", status, got, want)
		}
	}
	own, err := os.ReadFile("/proc/self/status")
	if err != nil || !strings.Contains(string(own), "\nTracerPid:") {
		t.Errorf("this kernel tells of no tracers: %v", err)
	}
}
