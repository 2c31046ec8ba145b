package detection

import (
	"sync/atomic"

	"banyan/bench/processes"
)

// board is the table that all members share. A row is written by its member
// alone; the bench reads. Times are processes.Monotonic's.
type board struct {
	*processes.Table
	n int
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

func boardWords(n int) int { return boardHead + n*rowWords(n) }

// newBoard makes the table for n members.
func newBoard(n int) (*board, error) {
	t, err := processes.NewTable("banyan bench detector", boardWords(n))
	return &board{t, n}, err
}

// openBoard maps the table that another process made.
func openBoard(path string, n int) (*board, error) {
	t, err := processes.OpenTable(path, boardWords(n))
	return &board{t, n}, err
}

// struck is the time of the fault.
func (b *board) struck() *atomic.Int64 { return b.Word(wordStruck) }

// connected is not 0 when the switch has connected all members.
func (b *board) connected() *atomic.Int64 { return b.Word(wordConnected) }

// word is a word at the head of a member's row.
func (b *board) word(member, word int) *atomic.Int64 {
	return b.Word(boardHead + member*rowWords(b.n) + word)
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
	now := processes.Monotonic()
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
