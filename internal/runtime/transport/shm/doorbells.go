package shm

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Doorbells are a process's page of memory that all its peers map. By ringing its doorbell a peer
// tells the owner that its ring has something, and there it sees whether the owner sleeps.
//
// The owner's own doorbell is rung by peers that have no frame for it, but want it to wake.
//
// No ring is missed. A peer changes the memory, rings, and then checks whether the owner sleeps.
// The owner stops a doorbell before it looks at the peer's ring, and announces that it sleeps
// before it looks at the doorbells for the last time. Go's atomics are sequentially consistent,
// so at least one of the two sees the other.
//
// Of the peers that see the owner asleep, only the one that clears the word asleep wakes the
// owner. If that peer dies before it has done so, its end wakes the owner.
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
	attends atomic.Uint32 // see Attend
	_       [2*lineSize - 4]byte
}

// doorbellsSize is the size in bytes of the page of a process in a job of so many.
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

// Any says whether a doorbell rings.
func (b *Doorbells) Any() bool {
	for i := range b.words {
		if b.words[i].Load() != 0 {
			return true
		}
	}
	return false
}

// Word says which doorbells of the 64 Procs from 64·i on ring, a bit each.
func (b *Doorbells) Word(i int) uint64 { return b.words[i].Load() }

// Stop stops a Proc's doorbell.
func (b *Doorbells) Stop(p proto.Proc) { b.words[p/64].And(^(uint64(1) << (p % 64))) }

// Ring rings a Proc's doorbell.
func (b *Doorbells) Ring(p proto.Proc) {
	word, bit := &b.words[p/64], uint64(1)<<(p%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// Sleep announces whether the owner sleeps.
func (b *Doorbells) Sleep(asleep bool) {
	if asleep {
		b.page.asleep.Store(1)
		return
	}
	b.page.asleep.Store(0)
}

// Rouse says whether the caller has to wake the owner.
func (b *Doorbells) Rouse() bool { return rouse(&b.page.asleep) }

func rouse(asleep *atomic.Uint32) bool { return asleep.Load() != 0 && asleep.CompareAndSwap(1, 0) }

// Revoke announces that data that the owner has exposed to its peers may change. Revoked is how
// often it did: a peer that reads exposed data compares the number before and after.
func (b *Doorbells) Revoke() { b.page.revoked.Add(1) }

// Attend announces whether the owner waits, and polls meanwhile: then it answers its peers at once.
func (b *Doorbells) Attend(on bool) {
	word := uint32(0)
	if on {
		word = 1
	}
	b.page.attends.Store(word)
}

// Attends says what Attend has announced last.
func (b *Doorbells) Attends() bool { return b.page.attends.Load() != 0 }

// Revoked counts Revoke.
func (b *Doorbells) Revoked() uint64 { return b.page.revoked.Load() }
