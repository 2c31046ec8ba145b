//go:build !386 && !s390x

package groupnode

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"
)

// measuredRoundTrip is the smoothed round trip that the kernel measures on a TCP socket: of data
// and their acknowledgement. No message is sent for it.
func measuredRoundTrip(fd uintptr) time.Duration {
	// struct tcp_info, uapi/linux/tcp.h: eight bytes, and then fields of 32 bits, of which
	// tcpi_rtt, in microseconds, is the 16th.
	const at = 8 + 15*4
	var info [at + 4]byte
	size := uint32(len(info))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 || size < uint32(len(info)) {
		return 0
	}
	return time.Duration(binary.NativeEndian.Uint32(info[at:])) * time.Microsecond
}
