package mesh

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

var _ transport.DirectReader = (*Transport)(nil)

// A handle, in the sense of transport.DirectReader, is an address and, in the upper bits, how
// often this process had revoked what it exposed by then. Addresses of programs have 47 bits;
// data at larger addresses isn't exposed.
const (
	addressBits = 48
	revokedMask = 1<<(64-addressBits) - 1
)

// Expose implements transport.DirectReader.
func (t *Transport) Expose(data []byte) uint64 {
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	if t.doorbells == nil || len(data) == 0 || address>>addressBits != 0 {
		return 0
	}
	return address | t.doorbells.Revoked()<<addressBits
}

// Revoke implements transport.DirectReader.
func (t *Transport) Revoke() {
	if t.doorbells != nil {
		t.doorbells.Revoke()
	}
}

// Attend implements transport.DirectReader.
func (t *Transport) Attend(on bool) {
	if t.doorbells != nil {
		t.doorbells.Attend(on)
	}
}

// Answers implements transport.DirectReader.
func (t *Transport) Answers(q proto.Proc) bool {
	p := t.peers[q]
	return p != nil && p.link != nil && p.link.Attends()
}

// Read implements transport.DirectReader. It reads from peers that share memory, by
// process_vm_readv. After a refusal it doesn't try that peer again.
//
// The data counts only if the peer hasn't revoked it and still lives: its pid could be another
// process's by now.
func (t *Transport) Read(from proto.Proc, dst []byte, exposed, offset uint64) bool {
	p := t.peer(from)
	if p.link == nil || p.unreadable || p.pidfd < 0 || exposed == 0 {
		return false
	}
	n, errno := t.readMemory(p.pid, dst, exposed&(1<<addressBits-1)+offset)
	switch errno {
	case 0:
	case unix.ESRCH: // it is dead
		return false
	default:
		p.unreadable = errno != unix.EFAULT && errno != unix.ENOMEM
		return false
	}
	return n == len(dst) && p.link.Revoked()&revokedMask == exposed>>addressBits && !t.vmRead.ended(p.pidfd)
}

// processRead is the room for the arguments of process_vm_readv, and of the question that follows.
type processRead struct {
	local  unix.Iovec
	remote struct {
		base uint64
		size uint64
	}
	process unix.PollFd
	atOnce  unix.Timespec
}

// read copies from the memory of a process.
func (v *processRead) read(pid int, dst []byte, address uint64) (int, unix.Errno) {
	v.local.Base = unsafe.SliceData(dst)
	v.local.SetLen(len(dst))
	v.remote.base, v.remote.size = address, uint64(len(dst))
	n, _, errno := unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(pid),
		uintptr(unsafe.Pointer(&v.local)), 1, uintptr(unsafe.Pointer(&v.remote)), 1, 0)
	v.local.Base = nil
	return int(n), errno
}

// ended says whether a process has ended, as exits does, but without a wait, the clock or memory of
// its own: it is asked once for each piece that is read.
func (v *processRead) ended(pidfd int) bool {
	v.process = unix.PollFd{Fd: int32(pidfd), Events: unix.POLLIN}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&v.process)), 1,
		uintptr(unsafe.Pointer(&v.atOnce)), 0, 0, 0)
	return errno != 0 || n > 0
}

// allowReads lets this process's parent, and all processes that the parent started, read its
// memory where the system (Yama) keeps processes of one user apart.
func allowReads() {
	// An error says that the system has no Yama.
	_ = unix.Prctl(unix.PR_SET_PTRACER, uintptr(os.Getppid()), 0, 0, 0)
}
