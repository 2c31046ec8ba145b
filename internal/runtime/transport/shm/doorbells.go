package shm

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Doorbells are a process's page of memory that all its peers see. They tell it by
// doorbells whose ring has something in it, and learn whether it sleeps.
//
// No ring is missed. A peer changes the memory, rings, and then looks whether the
// owner sleeps; the owner stops a bell before it looks at the peer's ring, and
// says that it sleeps before it looks at the doorbells for the last time. The atomics of Go are
// sequentially consistent, so at least one of two sees the other.
//
// Of the peers that see the owner asleep one wakes it: who takes the word back
// that it sleeps. Should that one die before it has done so, its end wakes the
// owner just as well.
type Doorbells struct {
	page  *page
	words []atomic.Uint64 // a bit per Proc
	area  area
	fd    int // -1: a peer's
}

// page is the beginning of the memory.
type page struct {
	asleep  atomic.Uint32
	_       [2*lineSize - 4]byte
	revoked atomic.Uint64 // see Revoke
	_       [2*lineSize - 8]byte
}

// doorbellsSize is the memory of a process in a job of so many.
func doorbellsSize(procs int) int {
	size := int(unsafe.Sizeof(page{})) + bellWords(procs)*8
	return (size + pageSize - 1) / pageSize * pageSize
}

func bellWords(procs int) int { return (procs + 63) / 64 }

// NewDoorbells makes this process's doorbells.
func NewDoorbells(procs int) (*Doorbells, error) {
	fd, err := newMemory("banyan-doorbells", doorbellsSize(procs))
	if err != nil {
		return nil, err
	}
	b, err := mapDoorbells(fd, procs)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	b.fd = fd
	return b, nil
}

// openDoorbells gives access to a peer's doorbells. The descriptor stays the caller's.
func openDoorbells(fd, procs int) (*Doorbells, error) {
	if size, err := memorySize(fd); err != nil || size != doorbellsSize(procs) {
		return nil, errForeign
	}
	return mapDoorbells(fd, procs)
}

func mapDoorbells(fd, procs int) (*Doorbells, error) {
	size := doorbellsSize(procs)
	a, err := mapArea(fd, size, piece{0, 0, size})
	if err != nil {
		return nil, err
	}
	words := (*atomic.Uint64)(unsafe.Add(a.base, unsafe.Sizeof(page{})))
	return &Doorbells{page: (*page)(a.base), words: unsafe.Slice(words, bellWords(procs)), area: a, fd: -1}, nil
}

// Close ends the use of the memory.
func (b *Doorbells) Close() {
	b.area.unmap()
	b.page, b.words = nil, nil
	if b.fd >= 0 {
		unix.Close(b.fd)
		b.fd = -1
	}
}

// Any says whether a bell rings.
func (b *Doorbells) Any() bool {
	for i := range b.words {
		if b.words[i].Load() != 0 {
			return true
		}
	}
	return false
}

// Word says which doorbells ring, a bit each, of the Procs from 64·i on.
func (b *Doorbells) Word(i int) uint64 { return b.words[i].Load() }

// Stop stops a Proc's bell.
func (b *Doorbells) Stop(p proto.Proc) { b.words[p/64].And(^(uint64(1) << (p % 64))) }

// Ring rings a Proc's bell.
func (b *Doorbells) Ring(p proto.Proc) {
	word, bit := &b.words[p/64], uint64(1)<<(p%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// Sleep says whether the owner sleeps.
func (b *Doorbells) Sleep(asleep bool) {
	if asleep {
		b.page.asleep.Store(1)
		return
	}
	b.page.asleep.Store(0)
}

// Rouse says whether the owner has to be woken by the caller.
func (b *Doorbells) Rouse() bool {
	return b.page.asleep.Load() != 0 && b.page.asleep.CompareAndSwap(1, 0)
}

// Revoke says that what the owner let its peers read in its memory isn't what it
// was; Revoked is how often it did. Who reads there looks at the number before
// and after.
func (b *Doorbells) Revoke() { b.page.revoked.Add(1) }

// Revoked counts Revoke.
func (b *Doorbells) Revoked() uint64 { return b.page.revoked.Load() }
