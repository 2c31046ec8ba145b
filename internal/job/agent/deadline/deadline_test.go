package deadline

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

const roleVariable = "BANYAN_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	// The child dies with this process, as a process of a job does with its agent.
	c := exec.Command("sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		panic(err)
	}
	t, err := New()
	if err != nil {
		panic(err)
	}
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	t.Set(proto.Time(now.Nano()) + proto.Time(time.Hour))
	t.Set(proto.Time(now.Nano()) + proto.Time(2*time.Second))
	fmt.Println(c.Process.Pid)
	time.Sleep(time.Hour)
}

// A process that is stopped dies at its deadline, and with it its stopped child.
func TestStoppedProcessDies(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), roleVariable+"=x")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	var child int
	if _, err := fmt.Fscan(bufio.NewReader(out), &child); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(child, syscall.SIGKILL)
	syscall.Kill(child, syscall.SIGSTOP)
	c.Process.Signal(syscall.SIGSTOP)
	c.Wait()
	if s := c.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v", c.ProcessState)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if syscall.Kill(child, 0) != nil || zombie(child) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("its child is left")
		}
	}
}

// zombie says whether a process has ended and wasn't reaped: the test may have no init.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var state string
	fmt.Sscanf(string(b[len(fmt.Sprint(pid)):]), " (sleep) %s", &state)
	return err != nil || state == "Z"
}
