package commons

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"banyan/internal/proto/cells"
	"banyan/internal/runtime/transport/shm"
)

const (
	// MaxSize is the largest number of members: each reads what all others give.
	MaxSize = 16
	// Depth is the number of cells of a member.
	Depth = cells.MaxDepth
	// Room is the most bytes that a member gives in one call.
	Room = 4 << 10
	// Whole is the most bytes of data, of all members, that each member takes.
	Whole = 16 << 10
	// Inline is the most bytes that are given in the line of the cell's word.
	Inline = lineSize - 16

	lineSize = 64
)

// head is the first line.
type head struct {
	mark     [16]byte
	members  uint32
	decision atomic.Uint32
}

// The values of decision.
const (
	undecided = iota
	used
	unused
)

// own is a member's first line.
type own struct{ done, waits atomic.Uint64 }

// line is the line of a cell.
type line struct {
	word, turn atomic.Uint64
	data       [Inline]byte
}

const (
	sleepersAt = lineSize
	membersAt  = 2 * lineSize
	memberSize = (Depth + 1) * lineSize
)

// roomsAt is where the room for longer data begins, and wholeSize the size of all.
func roomsAt(size int) int   { return pages(membersAt + size*memberSize) }
func wholeSize(size int) int { return roomsAt(size) + size*Depth*Room }

func pages(n int) int { return (n + pageSize - 1) / pageSize * pageSize }

var pageSize = os.Getpagesize()

// Memory is the memory of a communicator, seen by one of its members. Its methods aren't for
// several goroutines at a time.
type Memory struct {
	Part
	memory   *shm.Common
	sleepers *atomic.Uint64
	m        cells.Machine
	asleep   bool
	call     Call
	running  bool
}

// Part is a member's place in the memory, as C knows it too (capi/commons.c).
type Part struct {
	base       unsafe.Pointer
	progress   *cells.Progress
	rooms      uint64 // where the room for longer data begins
	self, size int32
}

// TicketSize is the length of a ticket.
const TicketSize = 32

// Ticket tells other members where the memory is. The zero Ticket says that there is none.
type Ticket [TicketSize]byte

var errTicket = errors.New("commons: there is no such memory")

// Make makes the memory for so many members, as the first of them.
func Make(size int) (*Memory, Ticket, error) {
	var t Ticket
	memory, descriptor, err := shm.NewCommon("banyan-cells", wholeSize(size))
	if err != nil {
		return nil, t, err
	}
	h := (*head)(memory.Base())
	h.members = uint32(size)
	rand.Read(h.mark[:])
	copy(t[:], h.mark[:])
	binary.LittleEndian.PutUint64(t[16:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(t[24:], uint64(descriptor))
	return newMemory(memory, 0, size), t, nil
}

// Open opens the memory as another member.
func Open(t Ticket, self, size int) (*Memory, error) {
	if t == (Ticket{}) {
		return nil, errTicket
	}
	pid, descriptor := binary.LittleEndian.Uint64(t[16:]), binary.LittleEndian.Uint64(t[24:])
	memory, err := shm.OpenCommon(int(pid), int(descriptor), wholeSize(size))
	if err != nil {
		return nil, err
	}
	if h := (*head)(memory.Base()); string(h.mark[:]) != string(t[:16]) || h.members != uint32(size) {
		memory.Unmap()
		return nil, errTicket
	}
	return newMemory(memory, self, size), nil
}

func newMemory(memory *shm.Common, self, size int) *Memory {
	s := &Memory{
		Part:     Part{base: memory.Base(), rooms: uint64(roomsAt(size)), self: int32(self), size: int32(size)},
		memory:   memory,
		sleepers: (*atomic.Uint64)(unsafe.Add(memory.Base(), sleepersAt)),
		m:        *cells.New(self, size, Depth),
	}
	s.progress = &s.m.Progress
	runtime.AddCleanup(s, (*shm.Common).Unmap, memory) // of a communicator that nobody has freed
	return s
}

// Decide decides whether the memory is used, unless a member has decided it before, and says what
// has been decided. Member 0 may decide that it is, when it knows that all have opened it; any
// other member that doesn't hear of the decision may decide that it isn't.
func (s *Memory) Decide(use bool) bool {
	h := (*head)(s.base)
	to := uint32(unused)
	if use {
		to = used
	}
	h.decision.CompareAndSwap(undecided, to)
	return h.decision.Load() == used
}

// Shut keeps further processes from opening the memory.
func (s *Memory) Shut() { s.memory.Shut() }

// Unmap ends the use of the memory here. The others can still read what this member has given.
func (s *Memory) Unmap() {
	s.memory.Unmap()
	s.base = nil
}

func (s *Memory) own(member int) *own {
	return (*own)(unsafe.Add(s.base, membersAt+member*memberSize))
}

func (s *Memory) line(member, cell int) *line {
	return (*line)(unsafe.Add(s.base, membersAt+member*memberSize+(cell+1)*lineSize))
}

// place is where a member's data of n bytes, at most Room, lies in a cell.
func (s *Memory) place(member, cell, n int) []byte {
	if n <= Inline {
		return s.line(member, cell).data[:n:n]
	}
	at := int(s.rooms) + (member*Depth+cell)*Room
	return unsafe.Slice((*byte)(unsafe.Add(s.base, at)), n)
}
