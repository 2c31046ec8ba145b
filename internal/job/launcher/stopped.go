package launcher

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// stopped says whether the process is stopped now, as by SIGSTOP, or stops as
// soon as the kernel lets it. The latter may be never: a process that waits for its
// vfork (as a shell does for each command) heeds no stop until the child has
// called exec, and the child has been stopped with it.
func (p *process) stopped() bool {
	if p.is(unix.WSTOPPED) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false // the number may be another's
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	return err == nil && stopPending(status)
}

// stopPending says whether SIGSTOP waits for a process to heed it, by the status
// that /proc tells of the process.
func stopPending(status []byte) bool {
	text, _ := statusField(status, "ShdPnd")
	pending, err := strconv.ParseUint(text, 16, 64)
	return err == nil && pending&(1<<(unix.SIGSTOP-1)) != 0
}
