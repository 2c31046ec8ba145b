package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// The end of a process is heard from its pidfd, which Go's poller watches together with all pipes
// and sockets: a process costs a descriptor and no thread. Kernels before 5.3 have no such thing.
// There a thread waits for each process.
//
// A process that has ended is reaped only after its group was killed: as long as it isn't, no other
// process or group gets its number.

// pollable makes a file of a pidfd, nil if there is none.
func pollable(pidfd int) *os.File {
	if pidfd < 0 {
		return nil
	}
	nonblocking(pidfd)
	return os.NewFile(uintptr(pidfd), "pidfd")
}

// awaitEnd waits until the process has ended. It doesn't reap the process.
func (p *localProcess) awaitEnd() {
	if p.pidfd != nil {
		raw, err := p.pidfd.SyscallConn()
		if err == nil {
			err = raw.Read(func(uintptr) bool { return p.is(unix.WEXITED) })
		}
		p.pidfd.Close()
		if err == nil {
			return
		}
	}
	for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// reap reaps the process, which has ended.
func (p *localProcess) reap() (status unix.WaitStatus, err error) {
	for {
		if _, err = unix.Wait4(p.pid, &status, 0, nil); err != unix.EINTR {
			return status, os.NewSyscallError("wait4", err)
		}
	}
}

// is says whether the process is in a state that waitid knows, without reaping it.
func (p *localProcess) is(state int) bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, p.pid, &info, state|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil && info.Signo != 0
		}
	}
}
