package lane

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/transport/shm"
)

// Reasons why the lane is closed, bits of Memory.Closed.
const (
	Tick   = 1 << iota // Go is to look at the clock and to poll; then it opens the lane
	Lost               // this process is fenced, or a rank is lost in a job that is to be taken back
	Ended              // this process leaves the job
	Never              // the job has no lane
	Traced             // frames are recorded for now
)

// Memory is what Go and C share. C has its fields by a generated header.
type Memory struct {
	word   atomic.Uint32 // of the Lock
	Closed atomic.Uint32 // 0: open

	Counts   match.Counts
	Requests int    // operations under way in Go
	Polls    uint64 // receives by C; they count as polls
	Sent     uint64 // frames sent by C

	self  int32
	ranks int32
	spins int32 // looks in vain before C leaves the wait to Go, or yields

	waiting uint32 // notes that wait

	// Where threads share this memory (turns isn't 0), a thread that waits looks so often, and
	// then offers its core to others so often, with the lock given up between its looks.
	looks int32
	turns int32
	here  atomic.Int32 // threads that wait in C now
	pause uint32       // they offer their cores to nobody: a program computes there
	rouse uint32       // the owner has received for a thread that waits in Go

	Sends sends

	// Where processes share cores, C offers its core to others some times before it leaves the
	// wait for a collective to Go. It tells Go of that, which knows when to stop (engine's
	// patience).
	yields  int32          // how often; 0: not at all
	late    uint32         // a yield came back late: C yields no more until Go has said so
	limit   int64          // which yield is late, in ns
	yielded uint64         // how often a yield didn't
	peers   unsafe.Pointer // shm.Ends by rank, nil where there is none
	sizes   [256]uint8     // of the plain predefined types in bytes, by handle from firstType on; 0: none
	comms   [comms]Comm
	notes   notes
	types   [types]Type
	// By the index of a communicator, its part in the common memory of agreements; nil: none. The
	// table of communicators is on the path of each message, and its entries have no room.
	pacts [comms]*commons.Part
	// The destinations of the numbered sends, world ranks.
	destinations [Numbers]int32
	// Windows of the program: see Win. C looks for them without the lock.
	winHandles [wins]uint64
	wins       [wins]*Win
}

// Comm is a communicator in C's table.
type Comm struct {
	handle  uint64 // 0: none
	context uint64
	group   unsafe.Pointer // world ranks by rank, int32; nil: the same
	part    *commons.Part  // in its common memory; nil: none
	size    int32
	_       int32
}

const (
	comms     = 64
	firstType = 0x200
	// maxRanks bounds the table of peers: the memory is made before the job's size is checked.
	maxRanks = 1 << 20
)

// New makes the memory of a process.
func New(self proto.Rank, ranks int) (*Memory, error) {
	if ranks < 1 || ranks > maxRanks {
		return nil, fmt.Errorf("lane: a job of %d ranks", ranks)
	}
	table := unsafe.Sizeof(Memory{})
	base, err := unix.MmapPtr(-1, 0, nil, table+uintptr(ranks)*unsafe.Sizeof(uintptr(0)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("lane: %w", err)
	}
	m := (*Memory)(base)
	m.self, m.ranks, m.peers = int32(self), int32(ranks), unsafe.Add(base, table)
	m.notes.init()
	return m, nil
}

// Private is the memory of a process whose lane is closed for good.
func Private() *Memory {
	m := &Memory{}
	m.Closed.Store(Never)
	return m
}

// NewLock makes the lock of the memory. There must be only one.
func (m *Memory) NewLock() Lock { return NewLock(&m.word) }

// SetSpins says how patient C is.
func (m *Memory) SetSpins(spins int) { m.spins = int32(spins) }

// SetYields says how often C offers its core to others while it waits.
func (m *Memory) SetYields(yields int) { m.yields = int32(yields) }

// SetLate says which of these offers somebody took who computes: one that took so long.
func (m *Memory) SetLate(limit time.Duration) { m.limit = int64(limit) }

// SetThreads says how patient each of several threads is in C, which then share the lock.
func (m *Memory) SetThreads(looks, turns int) { m.looks, m.turns = int32(looks), int32(turns) }

// SetPause says whether threads keep from offering their cores.
func (m *Memory) SetPause(on bool) {
	m.pause = 0
	if on {
		m.pause = 1
	}
}

// WaitsInC says whether a thread waits in C now.
func (m *Memory) WaitsInC() bool { return m.here.Load() > 0 }

// Yielded tells how many yields of C came back in time since it was asked last, and whether one
// came back late.
func (m *Memory) Yielded() (prompt int, late bool) {
	prompt, late = int(m.yielded), m.late != 0
	m.yielded, m.late = 0, 0
	return prompt, late
}

// SetPeer says where the ends of the rings of a rank are, a shm.Ends; nil: nowhere.
func (m *Memory) SetPeer(r proto.Rank, ends unsafe.Pointer) {
	unsafe.Slice((*unsafe.Pointer)(m.peers), m.ranks)[r] = ends
}

// ends is what the table of peers has of a rank.
func (m *Memory) ends(r proto.Rank) *shm.Ends {
	if m.peers == nil {
		return nil
	}
	return (*shm.Ends)(unsafe.Slice((*unsafe.Pointer)(m.peers), m.ranks)[r])
}

// SharesRings says whether C can receive from a rank.
func (m *Memory) SharesRings(r proto.Rank) bool { return m.ends(r) != nil }

// Queues says whether frames for a rank wait for room in its ring.
func (m *Memory) Queues(r proto.Rank) bool {
	ends := m.ends(r)
	return ends != nil && ends.Queued()
}

// SetSizes says how large the elements of the plain predefined types are, by handle.
func (m *Memory) SetSizes(sizes *[256]uint8) { m.sizes = *sizes }

// place is the only place where the table has a handle.
func (m *Memory) place(handle uint64) *Comm { return &m.comms[index(handle)] }

func index(handle uint64) uint64 { return (handle ^ handle>>4) % comms }

// SetComm makes a communicator known to C, unless its place in the table is taken. group must stay
// as it is until Drop.
func (m *Memory) SetComm(handle, context uint64, group []proto.Rank) {
	c := m.place(handle)
	if c.handle != 0 {
		return
	}
	*c = Comm{handle: handle, context: context, size: int32(len(group))}
	m.pacts[index(handle)] = nil
	for i, r := range group {
		if int(r) != i {
			c.group = unsafe.Pointer(unsafe.SliceData(group))
			break
		}
	}
}

// SetPart makes a communicator's common memory known to C, if the communicator is; nil: it has none
// any more. The part must stay until then.
func (m *Memory) SetPart(handle uint64, part *commons.Part) {
	if m.Knows(handle) {
		m.place(handle).part = part
	}
}

// SetPact does the same for the common memory of a communicator's agreements.
func (m *Memory) SetPact(handle uint64, part *commons.Part) {
	if m.Knows(handle) {
		m.pacts[index(handle)] = part
	}
}

// Knows says whether C knows a communicator.
func (m *Memory) Knows(handle uint64) bool { return handle != 0 && m.place(handle).handle == handle }

// DropContext takes the communicators of a context out of the table.
func (m *Memory) DropContext(context uint64) {
	for i := range m.comms {
		if c := &m.comms[i]; c.handle != 0 && c.context == context {
			*c = Comm{}
		}
	}
}

// DropMember takes the communicators of a rank out of the table.
func (m *Memory) DropMember(r proto.Rank) {
	for i := range m.comms {
		if c := &m.comms[i]; c.handle != 0 && c.has(r) {
			*c = Comm{}
		}
	}
}

// has tells whether a rank of the world is a member.
func (c *Comm) has(r proto.Rank) bool {
	if c.group == nil {
		return int32(r) < c.size
	}
	return slices.Contains(unsafe.Slice((*proto.Rank)(c.group), c.size), r)
}

// DropComm takes a communicator out of the table.
func (m *Memory) DropComm(handle uint64) {
	if c := m.place(handle); c.handle == handle {
		*c = Comm{}
	}
}
