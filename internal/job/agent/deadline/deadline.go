// Package deadline has the kernel kill this process at a time, also while it is stopped.
//
// An agent sets it to the end of its lease, and later again and again. An agent that is stopped, or
// whose whole host is, can do nothing when its lease ends. Then the kernel kills it, and with it
// the processes of the job (PDEATHSIG), which may be stopped as well: they die before they could
// act again.
//
// # Limits
//
// What the processes of the job have started themselves gets no signal; the agent's parent ends it
// (package guard). The clock of a virtual machine may stand still while that is paused: then it
// doesn't know that its lease is over.
package deadline

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Now is the time by which a Timer goes: that since this host's boot, also while it slept
// (CLOCK_BOOTTIME).
func Now() proto.Time {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // succeeds on every Linux that Go runs on
	return proto.Time(t.Nano())
}

// Timer is a timer of the kernel that kills this process.
type Timer struct{ id int32 }

// event is the kernel's struct sigevent: a signal to the process.
type event struct {
	value        uint64
	signal, kind int32
	_            [48]byte
}

// New makes a timer that isn't set. Nothing ends it but the process's end.
func New() (*Timer, error) {
	t := &Timer{}
	e := event{signal: int32(unix.SIGKILL)}
	if _, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&e)), uintptr(unsafe.Pointer(&t.id))); errno != 0 {
		return nil, os.NewSyscallError("timer_create", errno)
	}
	return t, nil
}

// Set has the kernel kill this process at a time of CLOCK_BOOTTIME, and not at the one that was set
// before. A time that has passed is now.
func (t *Timer) Set(at proto.Time) error {
	when := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(at)))}
	const absolute = 1 // TIMER_ABSTIME
	if _, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(t.id), absolute, uintptr(unsafe.Pointer(&when)), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("timer_settime", errno)
	}
	return nil
}
