package lane

import (
	"sync/atomic"
	"unsafe"

	"banyan/internal/runtime/window"
)

// Mode is which epoch of accesses there is, apart from those of locks.
type Mode uint32

const (
	NoEpoch Mode = iota
	Fenced       // all parts may be accessed
	Started      // those that may be: MPI_Win_start
)

// Mode is which epoch this is.
func (w *Win) Mode() Mode { return Mode(w.mode.Load()) }

// SetMode says which epoch this is.
func (w *Win) SetMode(m Mode) { w.mode.Store(uint32(m)) }

// Exposed tells whether there is an epoch of MPI_Win_post.
func (w *Win) Exposed() bool { return w.exposed.Load() != 0 }

// SetExposed says whether there is.
func (w *Win) SetExposed(is bool) { w.exposed.Store(bit(is)) }

// Hold is what this process has of a part's lock.
type Hold uint32

const (
	Free      Hold = 0
	Shared    Hold = 1
	Exclusive Hold = 2
	Unchecked Hold = 4 // with one of these: the program has promised that it needs no lock
	Changing  Hold = 8 // a thread locks or unlocks the part
)

// Held tells whether the part is locked.
func (l Hold) Held() bool { return l != Free && l&Changing == 0 }

// allLocked and allTaken, in Win.passive, say that all parts are locked, and that the locks were
// really taken.
const (
	allLocked = 1 << 31
	allTaken  = 1 << 30
)

// LockOf is what this process has of the lock of a rank's part.
func (w *Win) LockOf(rank int) Hold { return Hold(w.target(rank).lock.Load()) }

// Claim begins to lock a part, unless it is locked already. SetLock ends that.
func (w *Win) Claim(rank int) bool {
	return w.target(rank).lock.CompareAndSwap(uint32(Free), uint32(Changing))
}

// SetLock says what this process has of the lock of a part that it has claimed, or locked.
func (w *Win) SetLock(rank int, l Hold) {
	t := w.target(rank)
	if was := Hold(t.lock.Swap(uint32(l))); !was.Held() && l.Held() {
		w.passive.Add(1)
	} else if was.Held() && !l.Held() {
		w.passive.Add(^uint32(0))
	}
}

// AllLocked tells whether all parts are locked at once, and whether the locks were really taken.
func (w *Win) AllLocked() (is, taken bool) {
	all := w.passive.Load()
	return all&allLocked != 0, all&allTaken != 0
}

// SetAllLocked says so.
func (w *Win) SetAllLocked(is, taken bool) {
	w.passive.Store(bit(is)*allLocked | bit(is && taken)*allTaken)
}

// Passive tells whether any part is locked.
func (w *Win) Passive() bool { return w.passive.Load() != 0 }

// Group is the ranks that an epoch is about.
type Group struct {
	handle uint64         // of the program's group, if C may begin such an epoch again; else 0
	ranks  unsafe.Pointer // int32; a slice of Go's
	n      int32
	_      int32
}

// Started and Posted are the groups of the last calls of MPI_Win_start and MPI_Win_post.
func (w *Win) Started() *Group { return &w.started }
func (w *Win) Posted() *Group  { return &w.posted }

// Set says which ranks it is.
func (g *Group) Set(ranks []int) {
	g.Forget(0)
	if have := g.slice(); len(have) == len(ranks) {
		same := true
		for i, r := range ranks {
			same = same && have[i] == int32(r)
		}
		if same {
			return
		}
	}
	list := make([]int32, len(ranks))
	for i, r := range ranks {
		list[i] = int32(r)
	}
	g.ranks, g.n = unsafe.Pointer(unsafe.SliceData(list)), int32(len(list))
}

func (g *Group) slice() []int32 { return unsafe.Slice((*int32)(g.ranks), g.n) }

// Ranks are these ranks.
func (g *Group) Ranks() []int {
	ranks := make([]int, g.n)
	for i, r := range g.slice() {
		ranks[i] = int(r)
	}
	return ranks
}

// Name lets C begin epochs that are about this group, by its handle.
func (g *Group) Name(handle uint64) { atomic.StoreUint64(&g.handle, handle) }

// Forget is the end of Name, if that was called with this handle, or with any if it is 0.
func (g *Group) Forget(handle uint64) {
	if handle == 0 || atomic.LoadUint64(&g.handle) == handle {
		atomic.StoreUint64(&g.handle, 0)
	}
}

// May tells whether the epoch of MPI_Win_start is about a part.
func (w *Win) May(rank int) bool { return w.target(rank).may.Load() != 0 }

// SetMay says whether it is.
func (w *Win) SetMay(rank int, may bool) { w.target(rank).may.Store(bit(may)) }

// Seen is how many events of a rank are used up.
func (w *Win) Seen(e window.Event, rank int) uint32 { return w.seen(e, rank).Load() }

// UseUp uses one up.
func (w *Win) UseUp(e window.Event, rank int) { w.seen(e, rank).Add(1) }

func (w *Win) seen(e window.Event, rank int) *atomic.Uint32 {
	if e == window.Posted {
		return &w.target(rank).posted
	}
	return &w.target(rank).ended
}
