package binding

import (
	"sync"
	"syscall"
	"unsafe"
)

// memory is the memory that MPI_Alloc_mem has allocated, by address. Each block is a mapping of
// its own, so that running out of memory is an error and doesn't end the process.
type memory struct {
	mu     sync.Mutex
	blocks map[uintptr][]byte
}

// AllocMem is MPI_Alloc_mem. baseptr is the address of a pointer.
func (p *Process) AllocMem(size int64, info Info, baseptr unsafe.Pointer) Code {
	const function = "MPI_Alloc_mem"
	if _, valid := p.optional(info); !valid {
		return p.noInfo(function, info)
	}
	if size < 0 {
		return p.fail(nil, function, ErrArg, "the size is %d", size)
	}
	if size == 0 {
		*(*uintptr)(baseptr) = 0
		return Success
	}
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return p.fail(nil, function, ErrNoMem, "%d bytes: %v", size, err)
	}
	m := &p.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks == nil {
		m.blocks = map[uintptr][]byte{}
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	m.blocks[at] = b
	*(*uintptr)(baseptr) = at
	return Success
}

// FreeMem is MPI_Free_mem.
func (p *Process) FreeMem(base unsafe.Pointer) Code {
	if base == nil {
		return Success
	}
	m := &p.memory
	m.mu.Lock()
	b, found := m.blocks[uintptr(base)]
	delete(m.blocks, uintptr(base))
	m.mu.Unlock()
	if !found {
		return p.fail(nil, "MPI_Free_mem", ErrBase, "%p isn't from MPI_Alloc_mem, or has been freed", base)
	}
	syscall.Munmap(b)
	return Success
}
