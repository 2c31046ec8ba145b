package lane

import (
	"sync/atomic"
	"unsafe"

	"banyan/internal/runtime/window"
)

// Win is a window in C's table. Go and C both change it, in calls of the program that use the
// window. It is the only place where the epochs of a window are known: see epochs.go.
type Win struct {
	mode    atomic.Uint32 // a Mode
	busy    atomic.Uint32 // 1: something may be under way, which a flush waits for
	used    atomic.Uint32 // 1: a part was accessed in the epoch of a fence
	passive atomic.Uint32 // how many parts are locked; allLocked
	exposed atomic.Uint32 // 1: there is an epoch of MPI_Win_post
	locks   uint32        // 1: C may lock parts
	ranks   int32
	self    int32 // this member's number
	members int32 // those that share the words
	row     int32 // bytes from one row of a member to its next one: see window.Words
	rows    int32 // bytes from one member's rows to the next one's
	_       int32
	targets unsafe.Pointer // of Target, by rank
	turns   unsafe.Pointer // the lines of the parts; nil: C neither accumulates nor locks
	counts  unsafe.Pointer // the members' rows
	started Group          // of MPI_Win_start
	posted  Group          // of MPI_Win_post
}

// Target is a rank's part in C's table.
type Target struct {
	at     unsafe.Pointer // nil: C can't access it
	size   int64
	unit   int64
	base   uint64        // if at is nil: the address in another process, which the system copies from and to
	part   int32         // in the words of the window
	may    atomic.Uint32 // 1: the epoch of MPI_Win_start is about it
	pid    int32         // of that process; 0: none
	alive  int32         // a descriptor of it
	lock   atomic.Uint32 // a Hold of this process
	posted atomic.Uint32 // how many of its calls of MPI_Win_post are used up
	ended  atomic.Uint32 // how many of its calls of MPI_Win_complete are
	_      int32
}

// FenceHandle is the handle by which C knows the communicator of a window, for its fences.
func FenceHandle(win uint64) uint64 { return win | fenceBit }

const fenceBit = 1 << 40

// wins is how many windows the table has room for.
const wins = 64

// NewWin makes a window that C may know, with no epoch.
func NewWin(ranks int) *Win {
	targets := make([]Target, ranks)
	return &Win{ranks: int32(ranks), targets: unsafe.Pointer(unsafe.SliceData(targets))}
}

func (w *Win) target(rank int) *Target {
	return &unsafe.Slice((*Target)(w.targets), w.ranks)[rank]
}

// SetTarget says where a rank's part is, and which one it is among those with turns.
func (w *Win) SetTarget(rank int, at unsafe.Pointer, size, unit int64, part int) {
	t := w.target(rank)
	t.at, t.size, t.unit, t.part = at, size, unit, int32(part)
}

// SetOther says where a rank's part is in another process: see window.Process.
func (w *Win) SetOther(rank int, base uint64, pid, alive int) {
	t := w.target(rank)
	t.base, t.pid, t.alive = base, int32(pid), int32(alive)
}

// SetWords says where the words are that processes share, and whether C may lock parts by them.
func (w *Win) SetWords(words window.Words, locks bool) {
	w.turns, w.counts, w.rows, w.row = words.Turns, words.Rows, int32(words.Member), int32(words.Row)
	w.self, w.members, w.locks = int32(words.Self), int32(words.Members), bit(locks)
}

// SetBusy says whether a flush may have to wait.
func (w *Win) SetBusy(busy bool) { w.busy.Store(bit(busy)) }

// Busy tells what SetBusy said.
func (w *Win) Busy() bool { return w.busy.Load() != 0 }

// Use says that a part is accessed in an epoch of a fence. C says so, too, and forgets it by a
// fence of its own, so this is the only place where it is known.
func (w *Win) Use() { w.used.Store(1) }

// Used tells whether a part has been accessed in an epoch of a fence since Unuse.
func (w *Win) Used() bool { return w.used.Load() != 0 }

// Unuse begins another epoch.
func (w *Win) Unuse() { w.used.Store(0) }

func bit(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}

// SetWin makes a window known to C, unless its place in the table is taken. It must stay until
// DropWin.
func (m *Memory) SetWin(handle uint64, w *Win) {
	if i := index(handle); m.winHandles[i] == 0 {
		m.winHandles[i], m.wins[i] = handle, w
	}
}

// DropWin takes a window out of the table.
func (m *Memory) DropWin(handle uint64) {
	if i := index(handle); m.winHandles[i] == handle {
		m.winHandles[i], m.wins[i] = 0, nil
	}
}
