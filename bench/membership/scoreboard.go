package membership

import (
	"fmt"
	"sync/atomic"

	"banyan/bench/processes"
	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// scoreboard is the table in which members write down what they see. Each member alone writes its
// row. Times are those of processes.Monotonic.
type scoreboard struct {
	*processes.Table
	rows int
}

// Words before the first row.
const (
	// wordBase is the number of the view before the change that is measured.
	wordBase = iota
	scoreboardHead
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
	wordOthers    // and all others: news of deaths, and what joining members are told
	rowWords
)

// States of a member.
const (
	starting = iota
	up       // has a view
	over     // has ended, by itself or not
)

func scoreboardWords(rows int) int { return scoreboardHead + rows*rowWords }

func newScoreboard(rows int) (*scoreboard, error) {
	t, err := processes.NewTable("banyan bench membership", scoreboardWords(rows))
	return &scoreboard{t, rows}, err
}

func openScoreboard(path string, rows int) (*scoreboard, error) {
	t, err := processes.OpenTable(path, scoreboardWords(rows))
	return &scoreboard{t, rows}, err
}

func (b *scoreboard) base() *atomic.Int64 { return b.Word(wordBase) }

// word returns a word of a row.
func (b *scoreboard) word(row, word int) *atomic.Int64 {
	return b.Word(scoreboardHead + row*rowWords + word)
}

// address is where a member listens.
func (b *scoreboard) address(row int) string {
	return fmt.Sprintf("127.0.0.1:%d", b.word(row, wordPort).Load())
}

// recorder writes what a member does into its row.
type recorder struct {
	scoreboard *scoreboard
	row        int
}

func (r recorder) word(word int) *atomic.Int64 { return r.scoreboard.word(r.row, word) }

// Founded notes nothing: a bench has one founding.
func (r recorder) Founded(groupnode.Founding) {}

// Rival notes nothing, likewise.
func (r recorder) Rival(string, groupnode.Founding) {}

// Installed notes a view.
func (r recorder) Installed(v *membership.View, _ func(membership.Member) groupnode.Card, stable bool) {
	now := processes.Monotonic()
	if stable {
		r.word(wordStableAt).Store(now)
		r.word(wordStable).Store(int64(v.Number))
	}
	r.word(wordMembers).Store(int64(len(v.Members)))
	r.word(wordInstalled).Store(now)
	r.word(wordNumber).Store(int64(v.Number)) // last: a bench that waits looks at it
}

// Sent notes a message.
func (r recorder) Sent(_ membership.Member, x *membership.Message) {
	switch x.Kind {
	case membership.Propose, membership.Collect:
		if began := r.word(wordBegan); began.Load() == 0 && int64(x.Number) > r.scoreboard.base().Load() {
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

// isUp notes that the member has started.
func (r recorder) isUp() { r.word(wordState).CompareAndSwap(starting, up) }

// Ended notes the member's end.
func (r recorder) Ended(error) { r.word(wordState).Store(over) }
