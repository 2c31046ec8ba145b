package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func isTraced(pid int) bool { return tracerOf(procStatus(pid)) != "0" }

// procStatus is /proc/PID/status, nil if it can't be read.
func procStatus(pid int) []byte {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil
	}
	return status
}

// stopPending says whether SIGSTOP is pending, by the status of a process: it stops as soon as the
// kernel lets it. That may be never: a process that waits for its vfork (as a shell does for each
// command) doesn't stop until the child has called exec, and the child has been stopped with it.
func stopPending(status []byte) bool {
	text, _ := statusField(status, "ShdPnd")
	pending, err := strconv.ParseUint(text, 16, 64)
	return err == nil && pending&(1<<(unix.SIGSTOP-1)) != 0
}

// tracerOf is the number of the process that traces a process, "0" if there is none, by the status
// of the latter.
func tracerOf(status []byte) string {
	if tracer, ok := statusField(status, "TracerPid"); ok {
		return tracer
	}
	return "0"
}

// statusField is the value of a line of a status.
func statusField(status []byte, name string) (string, bool) {
	_, rest, found := bytes.Cut(status, []byte("\n"+name+":"))
	line, _, whole := bytes.Cut(rest, []byte{'\n'})
	return string(bytes.TrimSpace(line)), found && whole
}
