package detection

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// board is the table that all members share. A row is written by its member
// alone; the bench reads. Words are 64 bits and atomic, times are monotonic's.
//
// It is a memfd, which has no name and vanishes with its last user.
type board struct {
	n     int
	file  *os.File // the bench's own
	words []atomic.Int64
}

// Words at the head of a row.
const (
	wordState    = iota // a state
	wordPid             // of the member
	wordPort            // that the peer's member listens at
	wordSent            // messages, counted by the peer's transport
	wordSamples         // how many samples the member has taken
	wordSampleAt        // when it took the last one
	wordSampled         // messages sent by then
	rowHead
)

// States of a member.
const (
	starting  = iota
	unplugged // waits for its link
	plugged   // has its end of it
	joined    // has found another
	up        // has found all
)

// rowWords is how long a row is: four words for each other member.
func rowWords(n int) int { return rowHead + 4*n }

// Words before the first row.
const (
	wordStruck    = iota // the time of the fault
	wordConnected        // 1 when the switch has connected all
	boardHead
)

func boardBytes(n int) int { return 8 * (boardHead + n*rowWords(n)) }

// newBoard makes the table for n members.
func newBoard(n int) (*board, error) {
	fd, err := unix.MemfdCreate("banyan bench detector", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "board")
	if err := file.Truncate(int64(boardBytes(n))); err != nil {
		file.Close()
		return nil, err
	}
	b, err := mapBoard(file, n)
	if err != nil {
		file.Close()
		return nil, err
	}
	b.file = file
	return b, nil
}

// path is where other processes of the same user find the table.
func (b *board) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), b.file.Fd()) }

// openBoard maps the table that another process made.
func openBoard(path string, n int) (*board, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return mapBoard(file, n)
}

func mapBoard(file *os.File, n int) (*board, error) {
	b, err := unix.Mmap(int(file.Fd()), 0, boardBytes(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &board{n: n, words: unsafe.Slice((*atomic.Int64)(unsafe.Pointer(&b[0])), len(b)/8)}, nil
}

// close releases what the bench holds of the table.
func (b *board) close() {
	unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&b.words[0])), 8*len(b.words)))
	b.file.Close()
}

// struck is the time of the fault.
func (b *board) struck() *atomic.Int64 { return &b.words[wordStruck] }

// connected is not 0 when the switch has connected all members.
func (b *board) connected() *atomic.Int64 { return &b.words[wordConnected] }

// word is a word at the head of a member's row.
func (b *board) word(member, word int) *atomic.Int64 {
	return &b.words[boardHead+member*rowWords(b.n)+word]
}

// first and latest are when a member began to take another for dead, 0 for never;
// how is a number of the system's for the reason of the first time; since is the latest,
// or 0 if it holds the other for alive again.
func (b *board) first(by, of int) *atomic.Int64  { return b.word(by, rowHead+4*of) }
func (b *board) how(by, of int) *atomic.Int64    { return b.word(by, rowHead+4*of+1) }
func (b *board) latest(by, of int) *atomic.Int64 { return b.word(by, rowHead+4*of+2) }
func (b *board) since(by, of int) *atomic.Int64  { return b.word(by, rowHead+4*of+3) }

// learn notes that a member takes another for dead from now on.
func (b *board) learn(by, of, how int) {
	now := monotonic()
	if b.first(by, of).CompareAndSwap(0, now) {
		b.how(by, of).Store(int64(how))
	}
	b.latest(by, of).Store(now)
	b.since(by, of).Store(now)
}

// takeBack notes that a member holds another for alive again.
func (b *board) takeBack(by, of int) { b.since(by, of).Store(0) }

// anyAccused tells whether any member has ever taken another for dead.
func (b *board) anyAccused() bool {
	for by := range b.n {
		for of := range b.n {
			if b.first(by, of).Load() != 0 {
				return true
			}
		}
	}
	return false
}

// missing lists the members that haven't come as far as a state.
func (b *board) missing(state int64) []int {
	var m []int
	for i := range b.n {
		if b.word(i, wordState).Load() < state {
			m = append(m, i)
		}
	}
	return m
}
