//go:build unix && !solaris && !illumos && !aix

package store

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file for this process. It returns errLocked if another one has it. The
// kernel gives the lock back when the file is closed, also by the process's end.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
