package secure

import (
	"os"

	"golang.org/x/sys/unix"
)

// HideMemory keeps other processes of this user from reading the key in this process's memory, as
// by ptrace or /proc/PID/mem, and keeps it out of core files: the ranks run as the same user.
// Programs that this process starts aren't hidden. It doesn't stop root.
func HideMemory() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}
