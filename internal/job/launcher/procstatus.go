package launcher

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stopped says whether the process is stopped, as by SIGSTOP, or stops as soon as the kernel lets
// it. The latter may be never: a process that waits for its vfork (as a shell does for each
// command) doesn't stop until the child has called exec, and the child has been stopped with it.
func (p *process) stopped() bool {
	if p.is(unix.WSTOPPED) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false // another process may have the number
	}
	return stopPending(procStatus(p.pid))
}

// traced says whether a debugger is attached to the process, or to the process speaker that speaks
// for it, unless speaker is 0.
func (p *process) traced(speaker int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false // other processes may have the numbers
	}
	return isTraced(p.pid) || speaker != 0 && speaker != p.pid && isTraced(speaker)
}

func isTraced(pid int) bool { return tracerOf(procStatus(pid)) != "0" }

// procStatus is /proc/PID/status, nil if it can't be read.
func procStatus(pid int) []byte {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil
	}
	return status
}

// stopPending says whether SIGSTOP is pending, by the status of a process.
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
