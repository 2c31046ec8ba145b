package mesh

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPidfdTellsOfTheEnd(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := startTime(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := openPidfd(cmd.Process.Pid, start)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if exits(fd, 0) {
		t.Error("a live process has ended")
	}
	if _, err := openPidfd(cmd.Process.Pid, start+1); !errors.Is(err, errNoProcess) {
		t.Errorf("another process of that number: %v", err)
	}
	cmd.Process.Kill()
	if !exits(fd, 10*time.Second) {
		t.Error("a zombie hasn't ended")
	}
	cmd.Wait()
	if !exits(fd, 0) {
		t.Error("a reaped process hasn't ended")
	}
	if _, err := openPidfd(cmd.Process.Pid, start); !errors.Is(err, errNoProcess) {
		t.Errorf("a process that is no more: %v", err)
	}
}
