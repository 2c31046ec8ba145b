package contention

import (
	"sync/atomic"

	"banyan/bench/processes"
)

// scoreboard is the table that the bench and the nodes share. Each node alone writes its row. Times
// are those of processes.Monotonic.
type scoreboard struct {
	*processes.Table
	rows int
}

// Words before the first row, which the bench writes.
const (
	wordEpoch = iota // the run that begins
	wordBegin        // when it does
	headWords
)

// Words of a row.
const (
	wordPort   = iota // that the node listens at; 0: not yet
	wordReady         // the run for which it is ready, as a parent
	wordTime          // half a round trip in its last run, ns
	wordRounds        // of that, those of the warming up too
	wordDone          // which run that was
	rowWords
)

func scoreboardWords(rows int) int { return headWords + rows*rowWords }

func newScoreboard(rows int) (*scoreboard, error) {
	t, err := processes.NewTable("banyan bench contention", scoreboardWords(rows))
	return &scoreboard{t, rows}, err
}

func openScoreboard(path string, rows int) (*scoreboard, error) {
	t, err := processes.OpenTable(path, scoreboardWords(rows))
	return &scoreboard{t, rows}, err
}

func (b *scoreboard) epoch() *atomic.Int64 { return b.Word(wordEpoch) }
func (b *scoreboard) begin() *atomic.Int64 { return b.Word(wordBegin) }

// word returns a word of a row.
func (b *scoreboard) word(row, word int) *atomic.Int64 {
	return b.Word(headWords + row*rowWords + word)
}
