package detection

import (
	"sync/atomic"

	"banyan/bench/processes"
)

// scoreboard is the table that all members share. Each member alone writes its row; the bench
// reads. Times are those of processes.Monotonic.
type scoreboard struct {
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
	scoreboardHead
)

func scoreboardWords(n int) int { return scoreboardHead + n*rowWords(n) }

// newScoreboard makes the table for n members.
func newScoreboard(n int) (*scoreboard, error) {
	t, err := processes.NewTable("banyan bench detector", scoreboardWords(n))
	return &scoreboard{t, n}, err
}

// openScoreboard maps the table that another process made.
func openScoreboard(path string, n int) (*scoreboard, error) {
	t, err := processes.OpenTable(path, scoreboardWords(n))
	return &scoreboard{t, n}, err
}

// struck is the time of the fault.
func (b *scoreboard) struck() *atomic.Int64 { return b.Word(wordStruck) }

// connected is not 0 when the switch has connected all members.
func (b *scoreboard) connected() *atomic.Int64 { return b.Word(wordConnected) }

// word is a word at the head of a member's row.
func (b *scoreboard) word(member, word int) *atomic.Int64 {
	return b.Word(scoreboardHead + member*rowWords(b.n) + word)
}

// first and latest are when a member began to take another for dead, 0 for never. how is the
// system's number for the reason of the first time. since is the latest time, or 0 if the member
// believes again that the other lives.
func (b *scoreboard) first(by, of int) *atomic.Int64  { return b.word(by, rowHead+4*of) }
func (b *scoreboard) how(by, of int) *atomic.Int64    { return b.word(by, rowHead+4*of+1) }
func (b *scoreboard) latest(by, of int) *atomic.Int64 { return b.word(by, rowHead+4*of+2) }
func (b *scoreboard) since(by, of int) *atomic.Int64  { return b.word(by, rowHead+4*of+3) }

// learn notes that a member takes another for dead from now on.
func (b *scoreboard) learn(by, of, how int) {
	now := processes.Monotonic()
	if b.first(by, of).CompareAndSwap(0, now) {
		b.how(by, of).Store(int64(how))
	}
	b.latest(by, of).Store(now)
	b.since(by, of).Store(now)
}

// takeBack notes that a member believes again that another lives.
func (b *scoreboard) takeBack(by, of int) { b.since(by, of).Store(0) }

// anyAccused says whether any member has ever taken another for dead.
func (b *scoreboard) anyAccused() bool {
	for by := range b.n {
		for of := range b.n {
			if b.first(by, of).Load() != 0 {
				return true
			}
		}
	}
	return false
}

// missing lists the members that haven't reached a state.
func (b *scoreboard) missing(state int64) []int {
	var m []int
	for i := range b.n {
		if b.word(i, wordState).Load() < state {
			m = append(m, i)
		}
	}
	return m
}
