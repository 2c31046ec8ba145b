package mesh

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// errNoProcess says that a process doesn't exist any more.
var errNoProcess = errors.New("mesh: no such process")

// openPidfd opens a handle of a process. Its start time tells the process from others that have
// the pid before or after it. The handle becomes readable when the process ends, also while it is
// a zombie. errNoProcess is certain; any other error means that the kernel doesn't tell.
func openPidfd(pid int, start uint64) (int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return -1, errNoProcess
	}
	if err != nil {
		if got, at := startTime(pid); at == nil && got != start || errors.Is(at, os.ErrNotExist) {
			return -1, errNoProcess // the kernel has no pidfds, but it shows its processes
		}
		return -1, fmt.Errorf("mesh: pidfd of %d: %w", pid, err)
	}
	// The start time is read after the open: if it fits now, the handle is of that process.
	got, err := startTime(pid)
	if err == nil && got == start {
		return fd, nil
	}
	unix.Close(fd)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return -1, errNoProcess
	}
	return -1, err
}

// stopped says whether a process is stopped, by a signal or a debugger.
func stopped(pid int) bool {
	fields, err := stat(pid)
	return err == nil && (fields[0][0] == 'T' || fields[0][0] == 't')
}

// startTime is when a process started, in clock ticks since boot.
func startTime(pid int) (uint64, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(string(fields[19]), 10, 64) // the 22nd of all
}

// stat is what the kernel says of a process, beginning with the third field, its state. The second
// field, the command in brackets, may hold anything.
func stat(pid int) ([][]byte, error) {
	line, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, err
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return nil, fmt.Errorf("mesh: /proc/%d/stat is %q", pid, line)
	}
	return fields, nil
}

// maxProc is more than what readProc reads has.
const maxProc = 1024

// readProc reads a small file of /proc. Each link reads some; os.ReadFile takes twice as long,
// since it asks first whether the Go runtime can wait for the file.
func readProc(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("mesh: open %s: %w", name, err)
	}
	defer unix.Close(fd)
	text := make([]byte, maxProc)
	n, err := unix.Read(fd, text) // such a file gives all at once
	if err != nil {
		return nil, fmt.Errorf("mesh: read %s: %w", name, err)
	}
	return text[:n], nil
}

// exits waits at most limit for the end of a process, and says whether the process has ended.
func exits(pidfd int, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll(fds, int((left+time.Millisecond-1)/time.Millisecond))
		if n > 0 {
			return fds[0].Revents&unix.POLLIN != 0
		}
		if left == 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return false
		}
	}
}
