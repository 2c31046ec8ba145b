package window

import (
	"sync/atomic"
	"unsafe"
)

// The head is followed by a line of words for each part, and then by the rows of each member, which
// nobody else writes while it lives.

// CacheLine is how far words of different members are apart.
const CacheLine = 64

// In a part's line: the turn, the lock, how many threads of its member may sleep, and who has
// waited long for the lock.
const (
	lockAt  = 4
	dozesAt = 8
	firstAt = 12
)

// A member's rows have a word for each part, or for each member.
const (
	countsRow = iota // accumulates that it has among others there
	sharesRow        // 1: it shares the lock; one more word is for all locks
	postsRow         // how often it has exposed its part to that member
	endsRow          // how often it has completed an epoch of accesses there
	rows
)

func lines(n int) int { return (n + CacheLine - 1) / CacheLine * CacheLine }

// turnsAt is where the lines of the parts begin.
const turnsAt = 64

func rowsAt(members int) int  { return turnsAt + CacheLine*members }
func oneRow(members int) int  { return lines(4 * (members + 1)) }
func rowSize(members int) int { return rows * oneRow(members) }

// in is a word of a member's row.
func (m *Memory) in(member, row, part int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(m.memory.Base(), rowsAt(m.size)+member*rowSize(m.size)+row*oneRow(m.size)+4*part))
}

// Words says where C finds all these words.
type Words struct {
	Turns, Rows   unsafe.Pointer
	Member, Row   int // how far the rows of members are apart, and those of a member
	Self, Members int // this member's number, and how many there are
}

// Words are those of this memory.
func (m *Memory) Words() Words {
	return Words{unsafe.Pointer(m.turn(0)), unsafe.Pointer(m.count(0, 0)), rowSize(m.size), oneRow(m.size), m.self, m.size}
}

// Layout are constants of the words that C has, too.
func Layout() map[string]uint64 {
	return map[string]uint64{
		"CACHE_LINE": CacheLine, "LOCK_AT": lockAt, "DOZES_AT": dozesAt, "FIRST_AT": firstAt, "WANTED": Wanted,
		"SHARES": sharesRow, "EVENT_POSTED": uint64(Posted), "EVENT_COMPLETED": uint64(Completed),
	}
}
