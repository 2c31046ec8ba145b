package shm

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lineSize is the unit in which cores exchange memory, and in which records are laid out.
const lineSize = 64

// seals keep a process with the descriptor from changing the size of the memory: that would raise
// SIGBUS in the others.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// newMemory makes memory without a name, all zero, and returns its descriptor.
func newMemory(name string, size int) (int, error) {
	// A file larger than the limit would not just fail but raise a signal.
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil && limit.Cur < uint64(size) {
		return -1, fmt.Errorf("shm: %d bytes are more than this process's limit for files", size)
	}
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("shm: memfd: %w", err)
	}
	err = unix.Ftruncate(fd, int64(size))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("shm: %d bytes of memory: %w", size, err)
	}
	return fd, nil
}

// errForeign is about a descriptor that isn't the one that a peer should have sent.
var errForeign = errors.New("shm: the descriptor isn't that of sealed memory of the expected size")

// memorySize is the size of the memory whose descriptor a peer has sent. It won't change.
func memorySize(fd int) (int, error) {
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || got&seals != seals {
		return 0, errForeign
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return 0, errForeign
	}
	return int(s.Size), nil
}

// area is a range of addresses into which pieces of memory are mapped. Forked
// children don't have it.
type area struct {
	base unsafe.Pointer
	size int
}

// piece is a part of a memory, and where in an area it is mapped.
type piece struct{ at, offset, size int }

// mapArea maps pieces of a memory into a new area.
func mapArea(fd, size int, pieces ...piece) (area, error) {
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return area{}, fmt.Errorf("shm: %d bytes of addresses: %w", size, err)
	}
	a := area{base, size}
	for _, p := range pieces {
		if _, err = unix.MmapPtr(fd, int64(p.offset), unsafe.Add(base, p.at), uintptr(p.size),
			unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
			break
		}
	}
	if err == nil {
		err = unix.Madvise(unsafe.Slice((*byte)(base), size), unix.MADV_DONTFORK)
	}
	if err != nil {
		a.unmap()
		return area{}, fmt.Errorf("shm: map: %w", err)
	}
	return a, nil
}

// own makes the first bytes of an area, of which no piece is mapped, memory of this process alone.
func (a *area) own(bytes int) error {
	if err := unix.Mprotect(unsafe.Slice((*byte)(a.base), bytes), unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("shm: memory of this process: %w", err)
	}
	return nil
}

// unmap ends the use of an area; a second time does nothing.
func (a *area) unmap() {
	if a.base != nil {
		// It can only fail for memory that isn't mapped.
		_ = unix.MunmapPtr(a.base, uintptr(a.size))
		*a = area{}
	}
}

// pageSize is the unit of mappings.
var pageSize = os.Getpagesize()
