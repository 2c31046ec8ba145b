package groupnode

import (
	"errors"
	"syscall"
)

// wsaAddressInUse is WSAEADDRINUSE, which package syscall doesn't name.
const wsaAddressInUse syscall.Errno = 10048

func isAddressInUse(err error) bool { return errors.Is(err, wsaAddressInUse) }
