package shm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Locks are locks of bytes of a memory, which the system keeps: it releases those of a process that
// has ended. The bytes needn't exist. Only the holders of Locks take notice of them.
//
// They belong to an open file description of the memory, so every Locks, also of one process, is a
// holder of its own. A nil Locks has none.
type Locks struct{ fd int }

// OpenLocks opens a memory's locks by its descriptor in the process that has made it.
func OpenLocks(pid, descriptor int) (*Locks, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, descriptor), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: the locks of process %d: %w", pid, err)
	}
	return &Locks{fd}, nil
}

// Try locks n bytes from at on, and returns false if another holder has locked one of them
// exclusively, or at all if exclusive is set.
func (l *Locks) Try(at, n int, exclusive bool) (bool, error) {
	kind := int16(unix.F_RDLCK)
	if exclusive {
		kind = unix.F_WRLCK
	}
	switch err := l.set(kind, at, n); err {
	case nil:
		return true, nil
	case unix.EAGAIN, unix.EACCES:
		return false, nil
	default: // ENOLCK, say
		return false, fmt.Errorf("shm: a lock: %w", err)
	}
}

// Release unlocks n bytes from at on.
func (l *Locks) Release(at, n int) { l.set(unix.F_UNLCK, at, n) }

func (l *Locks) set(kind int16, at, n int) error {
	return unix.FcntlFlock(uintptr(l.fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: int64(at), Len: int64(n)})
}

// Close releases all locks of this holder.
func (l *Locks) Close() {
	if l != nil && l.fd >= 0 {
		unix.Close(l.fd)
		l.fd = -1
	}
}
