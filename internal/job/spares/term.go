package spares

import "time"

const (
	// beats is how many signs of life a spare leader gives in the time after which it counts as
	// gone if it gives none.
	beats = 4
	// maxTerm is more than the number of any term.
	maxTerm = 1 << 40
)

// leaderOf is which of the spares, numbered from 0, leads a term.
func leaderOf(term uint64, spares int) int { return int(term % uint64(spares)) }

// tracker follows the terms for one process: which term it is, and whether its spare leader is
// alive.
type tracker struct {
	spares      int
	term        uint64
	missed      int // so many signs of life in a row were missed
	unreachable int // so many spares in a row couldn't be reached
}

// leader is which of the spares leads the present term.
func (t *tracker) leader() int { return leaderOf(t.term, t.spares) }

// goOn begins the next term, or a later one that others have announced.
func (t *tracker) goOn(announced uint64) { t.term, t.missed = max(t.term+1, announced), 0 }

// heard notes a sign of life. It tells a process that has come late which of the spare leader's
// terms it is.
func (t *tracker) heard(term uint64) {
	t.missed = 0
	if term > t.term && term < maxTerm && leaderOf(term, t.spares) == t.leader() {
		t.term = term
	}
}

// tick is called beats times in the time after which a silent spare leader counts as gone, and
// says whether it does. It counts calls instead of measuring time: a process that was itself
// stopped has missed calls as well.
func (t *tracker) tick() (gone bool) {
	t.missed++
	return t.missed > beats
}

// pause is how long a process waits after it couldn't reach a spare, before it tries the next.
func pause(silence time.Duration) time.Duration { return silence / (2 * beats) }
