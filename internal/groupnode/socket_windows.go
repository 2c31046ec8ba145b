package groupnode

import (
	"errors"
	"syscall"
)

// tryWrite writes nothing: here a goroutine writes what is queued.
func tryWrite(uintptr, []byte) int { return 0 }

// wsaAddressInUse is WSAEADDRINUSE, which package syscall doesn't name.
const wsaAddressInUse syscall.Errno = 10048

func isAddressInUse(err error) bool { return errors.Is(err, wsaAddressInUse) }
