package window

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory that a program brings to a window isn't shared, but the system copies to and from it,
// where it lets one process trace the other (process_vm_writev). A Card says where it is. It has a
// mark, too, which who opens it reads first: a number of a process may mean another one in another
// namespace.

// CardSize is the length of a Card.
const CardSize = 40

// Card says where a process has memory. The zero Card says nothing.
type Card [CardSize]byte

// Mark is what proves that a Card is right. It has to be kept for as long as others use it.
type Mark [16]byte

// NewCard makes the card of memory of this process.
func NewCard(base unsafe.Pointer) (c Card, m *Mark) {
	m = new(Mark)
	rand.Read(m[:])
	binary.LittleEndian.PutUint64(c[:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(c[8:], uint64(uintptr(base)))
	binary.LittleEndian.PutUint64(c[16:], uint64(uintptr(unsafe.Pointer(m))))
	copy(c[24:], m[:])
	return c, m
}

// Process is memory of another process.
type Process struct {
	pid, descriptor int
	base            uint64
}

// Open opens the memory of another process, and returns nil if the system doesn't allow it.
func (c Card) Open() *Process {
	if c == (Card{}) {
		return nil
	}
	p := &Process{pid: int(binary.LittleEndian.Uint64(c[:])), base: binary.LittleEndian.Uint64(c[8:])}
	descriptor, err := openProcess(p.pid)
	if err != nil {
		return nil
	}
	p.descriptor = descriptor
	var m Mark
	if !p.copied(unix.ProcessVMReadv, m[:], binary.LittleEndian.Uint64(c[16:])) || string(m[:]) != string(c[24:]) {
		p.Close()
		return nil
	}
	return p
}

// Base, Pid and Descriptor are where the memory begins in its process, the process's number, and a
// descriptor of it that is readable once it has ended.
func (p *Process) Base() uint64    { return p.base }
func (p *Process) Pid() int        { return p.pid }
func (p *Process) Descriptor() int { return p.descriptor }

// openProcess is a descriptor of a process.
func openProcess(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }

// Close ends the use of the memory.
func (p *Process) Close() { unix.Close(p.descriptor) }

// Write copies data to the memory, from a byte on. It returns false if not all of it could be
// copied, because the process is dead, say.
func (p *Process) Write(at int64, data []byte) bool {
	return p.copied(unix.ProcessVMWritev, data, p.base+uint64(at))
}

// Read is the converse of Write.
func (p *Process) Read(at int64, data []byte) bool {
	return p.copied(unix.ProcessVMReadv, data, p.base+uint64(at))
}

type copier func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)

// copied copies between data and an address there. The process must live before, so that its
// number is its own; and after, since what was read may be another one's.
func (p *Process) copied(system copier, data []byte, address uint64) bool {
	if len(data) == 0 {
		return true
	}
	if p.ended() {
		return false
	}
	local := []unix.Iovec{{Base: &data[0]}}
	local[0].SetLen(len(data))
	n, err := system(p.pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(data)}}, 0)
	return err == nil && n == len(data) && !p.ended()
}

// ended tells whether the process has ended.
func (p *Process) ended() bool {
	poll := []unix.PollFd{{Fd: int32(p.descriptor), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err != nil && err != unix.EINTR || n > 0
}
