package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Common is memory that several processes share. One makes it; the others open it by its
// descriptor in that one, which therefore stays open until all have. The system lets processes of
// one user do so. Forked children don't have it.
type Common struct {
	area area
	fd   int // in the process that has made it, until Shut
}

// NewCommon makes memory of some whole pages, all zero. The number of its descriptor is for
// OpenCommon in other processes.
func NewCommon(name string, size int) (c *Common, descriptor int, err error) {
	fd, err := newMemory(name, size)
	if err != nil {
		return nil, -1, err
	}
	a, err := mapArea(fd, size, piece{0, 0, size})
	if err != nil {
		unix.Close(fd)
		return nil, -1, err
	}
	return &Common{area: a, fd: fd}, fd, nil
}

// OpenCommon maps memory that a process has made. It may be the wrong memory, if the process has
// ended meanwhile: the caller looks for a mark in it.
func OpenCommon(pid, descriptor, size int) (*Common, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, descriptor), unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("shm: the memory of process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if has, err := memorySize(fd); err != nil || has != size {
		return nil, errForeign
	}
	a, err := mapArea(fd, size, piece{0, 0, size})
	if err != nil {
		return nil, err
	}
	return &Common{area: a, fd: -1}, nil
}

// Base is the first address, at the beginning of a page.
func (c *Common) Base() unsafe.Pointer { return c.area.base }

// Shut closes the descriptor: from then on no other process can open the memory.
func (c *Common) Shut() {
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// Unmap ends the use of the memory here. A second time does nothing.
func (c *Common) Unmap() {
	c.Shut()
	c.area.unmap()
}
