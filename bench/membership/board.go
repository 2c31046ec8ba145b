package membership

import (
	"fmt"
	"sync/atomic"

	"banyan/bench/processes"
	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// board is the table in which members write down what they see: a row for each, which it alone
// writes. Times are processes.Monotonic's.
type board struct {
	*processes.Table
	rows int
}

// Words before the first row.
const (
	// wordBase is the number of the view before the change that is measured.
	wordBase = iota
	boardHead
)

// Words of a row.
const (
	wordState     = iota
	wordPort      // that it listens at
	wordNumber    // of its last view
	wordMembers   // of that
	wordInstalled // when that was
	wordStable    // number of the last view for which it had all acknowledgements
	wordStableAt  // when that was
	wordBegan     // when it first proposed or collected for a view after the base; 0: not yet
	wordAgreement // messages sent: proposals, acknowledgements, reports and what asks for them
	wordCommits   // and commits
	wordOthers    // and all others: what is told of deaths, and to those who join
	rowWords
)

// States of a member.
const (
	starting = iota
	up       // has a view
	over     // has ended, by itself or not
)

func boardWords(rows int) int { return boardHead + rows*rowWords }

func newBoard(rows int) (*board, error) {
	t, err := processes.NewTable("banyan bench membership", boardWords(rows))
	return &board{t, rows}, err
}

func openBoard(path string, rows int) (*board, error) {
	t, err := processes.OpenTable(path, boardWords(rows))
	return &board{t, rows}, err
}

func (b *board) base() *atomic.Int64 { return b.Word(wordBase) }

// word is a word of a row.
func (b *board) word(row, word int) *atomic.Int64 { return b.Word(boardHead + row*rowWords + word) }

// address is where a member listens.
func (b *board) address(row int) string {
	return fmt.Sprintf("127.0.0.1:%d", b.word(row, wordPort).Load())
}

// recorder writes into a row what a member does.
type recorder struct {
	board *board
	row   int
}

func (r recorder) word(word int) *atomic.Int64 { return r.board.word(r.row, word) }

// Installed notes a view.
func (r recorder) Installed(v *membership.View, _ func(membership.Member) groupnode.Card, stable bool) {
	now := processes.Monotonic()
	if stable {
		r.word(wordStableAt).Store(now)
		r.word(wordStable).Store(int64(v.Number))
	}
	r.word(wordMembers).Store(int64(len(v.Members)))
	r.word(wordInstalled).Store(now)
	r.word(wordNumber).Store(int64(v.Number)) // last: who waits looks at it
}

// Sent notes a message.
func (r recorder) Sent(_ membership.Member, x *membership.Message) {
	switch x.Kind {
	case membership.Propose, membership.Collect:
		if began := r.word(wordBegan); began.Load() == 0 && int64(x.Number) > r.board.base().Load() {
			began.Store(processes.Monotonic())
		}
		r.word(wordAgreement).Add(1)
	case membership.Ack, membership.Report:
		r.word(wordAgreement).Add(1)
	case membership.Commit:
		r.word(wordCommits).Add(1)
	default:
		r.word(wordOthers).Add(1)
	}
}

// isUp notes that the member can be dealt with.
func (r recorder) isUp() { r.word(wordState).CompareAndSwap(starting, up) }

// Ended notes the member's end.
func (r recorder) Ended(error) { r.word(wordState).Store(over) }
