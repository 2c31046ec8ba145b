package groupnode

import (
	"syscall"
	"unsafe"

	"banyan/internal/proto"
)

// leaseClock is the time since the kernel began, CLOCK_BOOTTIME, which goes on while the host
// sleeps and can't be set.
func leaseClock() proto.Time {
	const bootTime = 7 // CLOCK_BOOTTIME, uapi/linux/time.h
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, bootTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno) // every Linux that Go runs on has it
	}
	return proto.Time(t.Nano())
}
