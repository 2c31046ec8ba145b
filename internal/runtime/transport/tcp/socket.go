// Package tcp is the medium between hosts: the sockets of TCP connections, which the calling
// thread polls. Package mesh makes the connections.
//
// The calls that move data don't tell Go's scheduler (RawSyscall): they never block, and telling
// the scheduler costs more than most of them. One send takes up to MaxRuns runs of bytes, such as
// a header and its payload, or a backlog. One receive fills the destination of a large payload
// and then the common buffer.
//
// # Limits
//
// The package needs Linux. It doesn't encrypt: package mesh does, where a job wants it.
package tcp

import (
	"fmt"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxRuns bounds the runs of bytes in one call.
const MaxRuns = 32

// Vector is room for the arguments of one send or receive. Its owner keeps it, so that a call
// allocates nothing.
type Vector struct {
	iov  [MaxRuns]unix.Iovec
	msg  unix.Msghdr
	flat [512]byte
}

// Send writes at most MaxRuns runs of bytes, and returns how many bytes went. It raises no
// SIGPIPE: the program may use that signal itself.
func (v *Vector) Send(fd int, runs ...[]byte) (int, unix.Errno) {
	size := 0
	for _, run := range runs {
		size += len(run)
	}
	if size <= len(v.flat) { // a copy costs less than more arguments
		n := 0
		for _, run := range runs {
			n += copy(v.flat[n:], run)
		}
		sent, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&v.flat)), uintptr(n), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, 0, 0)
		return int(sent), errno
	}
	count := 0
	for _, run := range runs {
		if len(run) > 0 {
			v.iov[count].Base = unsafe.SliceData(run)
			v.iov[count].SetLen(len(run))
			count++
		}
	}
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(count)
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	v.forget(count)
	return int(n), errno
}

// Receive reads into direct, until that is full, and then into rest.
func (v *Vector) Receive(fd int, direct, rest []byte) (int, unix.Errno) {
	if len(direct) == 0 {
		// recvfrom is cheaper than read, which goes through the layer of files.
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(rest))), uintptr(len(rest)), unix.MSG_DONTWAIT, 0, 0)
		return int(n), errno
	}
	v.iov[0].Base = unsafe.SliceData(direct)
	v.iov[0].SetLen(len(direct))
	v.iov[1].Base = unsafe.SliceData(rest)
	v.iov[1].SetLen(len(rest))
	n, _, errno := unix.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v.iov[0])), 2)
	v.forget(2)
	return int(n), errno
}

// forget clears the pointers to the runs.
func (v *Vector) forget(count int) {
	for i := range count {
		v.iov[i].Base = nil
	}
}

// Conn is a connection of package net.
type Conn interface {
	syscall.Conn
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// withinHost is the congestion control of a connection within this host, on which nothing is ever
// congested. Every kernel has it and lets every process choose it. The system's own choice may
// pace what is sent (BBR does), which takes half as long again for a megabyte (decision 107).
const withinHost = "reno"

// TakeOver takes a connection's socket away from package net. The caller closes c.
func TakeOver(c Conn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("tcp: take over: %w", err)
	}
	var fd int
	var dupErr error
	err = raw.Control(func(held uintptr) {
		// The descriptor is at least 3, in case the program has closed its standard files.
		fd, dupErr = unix.FcntlInt(held, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err == nil {
		err = dupErr
	}
	if err != nil {
		return -1, fmt.Errorf("tcp: take over: %w", err)
	}
	if Within(c) {
		// An error leaves the system's choice: slower, no worse.
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, withinHost)
	}
	return fd, nil
}

// Within tells whether both ends of a TCP connection are in this host: they have one address, or
// both have addresses of the loopback interface.
func Within(c Conn) bool {
	local, ok := c.LocalAddr().(*net.TCPAddr)
	remote, same := c.RemoteAddr().(*net.TCPAddr)
	return ok && same && (local.IP.Equal(remote.IP) || local.IP.IsLoopback() && remote.IP.IsLoopback())
}

// Unsent is how many bytes the peer's kernel hasn't acknowledged.
func Unsent(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	if err != nil || n == 0 {
		return 0
	}
	// A connection that the peer has reset keeps its count for ever.
	state := []unix.PollFd{{Fd: int32(fd)}}
	if _, err := unix.Poll(state, 0); err == nil && state[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
		return 0
	}
	return n
}
