//go:build unix

package groupnode

import (
	"errors"
	"syscall"
)

// tryWrite makes one attempt to write to a socket, without waiting. It returns how many bytes went,
// or less than 0.
func tryWrite(fd uintptr, b []byte) int {
	n, _ := syscall.Write(int(fd), b)
	return n
}

func isAddressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
