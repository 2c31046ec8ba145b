package window

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/transport/shm"
)

// head is the beginning of the memory. The words of the members follow it: see words.go.
type head struct {
	mark    [16]byte
	members uint32
}

// Memory is the memory of a window, seen by one of its members.
type Memory struct {
	memory *shm.Common
	self   int
	size   int
	parts  int // where the first part begins
}

// TicketSize is the length of a ticket.
const TicketSize = 32

// Ticket tells other members where the memory is. The zero Ticket says that there is none.
type Ticket [TicketSize]byte

var errTicket = errors.New("window: there is no such memory")

// partsAt is where the parts of so many members begin.
func partsAt(members int) int { return Pages(rowsAt(members) + members*rowSize(members)) }

// Pages is a number of bytes rounded up to whole pages.
func Pages(n int) int { return (n + pageSize - 1) / pageSize * pageSize }

var pageSize = os.Getpagesize()

// Make makes the memory of so many members, with so many bytes for all their parts, as member
// self. The memory is all zero.
func Make(self, members, bytes int) (*Memory, Ticket, error) {
	var t Ticket
	if err := fits(bytes); err != nil {
		return nil, t, err
	}
	memory, descriptor, err := shm.NewCommon("banyan-window", partsAt(members)+Pages(bytes))
	if err != nil {
		return nil, t, err
	}
	m := &Memory{memory: memory, self: self, size: members, parts: partsAt(members)}
	h := (*head)(memory.Base())
	h.members = uint32(members)
	rand.Read(h.mark[:])
	copy(t[:], h.mark[:])
	binary.LittleEndian.PutUint64(t[16:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(t[24:], uint64(descriptor))
	return m, t, nil
}

// Open opens the memory that another member has made.
func Open(t Ticket, self, members, bytes int) (*Memory, error) {
	if t == (Ticket{}) {
		return nil, errTicket
	}
	pid, descriptor := int(binary.LittleEndian.Uint64(t[16:])), int(binary.LittleEndian.Uint64(t[24:]))
	memory, err := shm.OpenCommon(pid, descriptor, partsAt(members)+Pages(bytes))
	if err != nil {
		return nil, err
	}
	m := &Memory{memory: memory, self: self, size: members, parts: partsAt(members)}
	if h := (*head)(memory.Base()); string(h.mark[:]) != string(t[:16]) || h.members != uint32(members) {
		m.Close()
		return nil, errTicket
	}
	return m, nil
}

// Shut keeps further processes from opening the memory: all members have.
func (m *Memory) Shut() { m.memory.Shut() }

// At is the address of a byte of the parts.
func (m *Memory) At(offset int) unsafe.Pointer { return unsafe.Add(m.memory.Base(), m.parts+offset) }

// Close ends the use of the memory here. The others can still use theirs.
func (m *Memory) Close() {
	m.Drop()
	m.memory.Unmap()
}

// errTooLarge is about more memory than the host has.
type errTooLarge struct{ bytes, has uint64 }

func (e errTooLarge) Error() string {
	return fmt.Sprintf("%d bytes, and the host has %d with its swap space", e.bytes, e.has)
}

// TooLarge tells whether an error is about too little memory.
func TooLarge(err error) bool {
	return errors.As(err, new(errTooLarge)) || errors.Is(err, unix.ENOMEM)
}

// fits is an error if the host can't have so much memory, which it would only tell when it is
// written to, by killing processes.
func fits(bytes int) error {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return nil
	}
	if has := (s.Totalram + s.Totalswap) * uint64(s.Unit); uint64(bytes) > has {
		return errTooLarge{uint64(bytes), has}
	}
	return nil
}
