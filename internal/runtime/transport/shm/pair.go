package shm

import (
	"sync/atomic"
	"unsafe"
)

// The rings of a pair are in one memory: a page of control words and of records
// that are kept (keep.go), then the data of each ring. A
// ring's data is mapped twice in a row, so that a record that goes over the end of the ring is in
// one piece. Before them all there is a page of the process's own, with its ends of the rings: so
// the C of the process can use them, too (package lane).

const (
	minRing = 32 << 10
	maxRing = 256 << 10
	// ringBudget is how many bytes all rings to one process may take.
	ringBudget = 8 << 20
)

// RingSize is the size in bytes of each ring in a job of so many processes.
func RingSize(procs int) int {
	size := maxRing
	for size > minRing && size*procs > ringBudget {
		size /= 2
	}
	return size
}

// Pair is the two rings between two processes, seen by one of them. Its creator
// writes to the first one.
type Pair struct {
	*Ends // nil after Close

	Keep Keep // records for the peer (keep.go)
	Kept Kept // the peer's

	area area
}

// Ends are a process's ends of both rings, and how it rings the peer.
type Ends struct {
	Out Writer
	In  Reader

	bell   *atomic.Uint64 // of the peer's doorbells, that of this process
	bit    uint64         // in bell
	asleep *atomic.Uint32 // the peer's
	alarm  int32          // the peer's
	queued uint32         // 1: frames wait for room before what comes now
}

// Queued says what Queue has said last.
func (e *Ends) Queued() bool { return e.queued != 0 }

// Queue says whether frames wait for room: then C may write none.
func (e *Ends) Queue(waits bool) {
	e.queued = 0
	if waits {
		e.queued = 1
	}
}

// controlSize is the distance in bytes between the control words of two rings.
const controlSize = 512

// NewPair makes the rings, and returns the descriptor to hand over.
func NewPair(ring int) (*Pair, int, error) {
	fd, err := newMemory("banyan-rings", pageSize+2*ring)
	if err != nil {
		return nil, -1, err
	}
	p := &Pair{}
	if err := p.mapRings(fd, ring, 0); err != nil {
		closeAll(fd)
		return nil, -1, err
	}
	return p, fd, nil
}

// OpenPair opens rings that another process has made. The descriptor stays the caller's.
func OpenPair(fd int) (*Pair, error) {
	size, err := memorySize(fd)
	if err != nil {
		return nil, err
	}
	ring := (size - pageSize) / 2
	if ring < minRing || ring > maxRing || ring&(ring-1) != 0 || size != pageSize+2*ring {
		return nil, errForeign
	}
	p := &Pair{}
	if err := p.mapRings(fd, ring, 1); err != nil {
		return nil, err
	}
	return p, nil
}

// mapRings maps both rings. This process writes to the ring with the number out.
func (p *Pair) mapRings(fd, ring, out int) (err error) {
	first := 2 * pageSize
	second := first + 2*ring
	p.area, err = mapArea(fd, second+2*ring,
		piece{pageSize, 0, pageSize},
		piece{first, pageSize, ring}, piece{first + ring, pageSize, ring},
		piece{second, pageSize + ring, ring}, piece{second + ring, pageSize + ring, ring})
	if err != nil {
		return err
	}
	if err := p.area.own(pageSize); err != nil {
		p.area.unmap()
		return err
	}
	p.Ends = (*Ends)(p.area.base)
	half := func(number int) half {
		at := unsafe.Add(p.area.base, pageSize+number*controlSize)
		return half{
			data: unsafe.Add(p.area.base, first+number*2*ring), size: uint64(ring),
			control: (*control)(at),
		}
	}
	p.Out = Writer{half: half(out), limit: uint64(ring), clear: uint64(ring)}
	p.In = Reader{half: half(1 - out)}
	keep := func(number int) *keepArea {
		return (*keepArea)(unsafe.Add(p.area.base, pageSize+keepAt+number*keepSize))
	}
	p.Keep, p.Kept = Keep{area: keep(out)}, Kept{keep(1 - out)}
	return nil
}

// Close unmaps the rings. Neither may be used any more.
func (p *Pair) Close() {
	p.area.unmap()
	p.Ends, p.Keep, p.Kept = nil, Keep{}, Kept{}
}
