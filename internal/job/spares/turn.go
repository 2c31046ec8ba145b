package spares

import "time"

// The spares are spare leaders by turns: turn 0 is the lowest one's, the next turn the next one's, and after the highest comes
// the lowest again. A turn ends when anybody finds its spare leader dead or silent. He tells the spare leader of the next
// turn, and that tells the old one, if he still listens, who then sends all on.

const (
	// beats is how many signs of life a spare leader gives in the time after which one that gives none is
	// held for gone.
	beats = 4
	// maxTurn is more turns than there ever are.
	maxTurn = 1 << 40
)

// course is a process's way from spare leader to spare leader.
type course struct {
	spares int
	turn   uint64
	quiet  int // so often in a row nothing was heard of the spare leader
	barren int // so many spares in a row couldn't be met
}

// spare is whose turn it is, of the spares.
func (c *course) spare() int { return int(c.turn % uint64(c.spares)) }

// goOn begins the next turn, or a later one that others have begun.
func (c *course) goOn(urged uint64) { c.turn, c.quiet = max(c.turn+1, urged), 0 }

// heard notes a sign of life. Who has come late is told which turn it is.
func (c *course) heard(turn uint64) {
	c.quiet = 0
	if turn > c.turn && turn < maxTurn && turn%uint64(c.spares) == c.turn%uint64(c.spares) {
		c.turn = turn
	}
}

// tick is called beats times in the time after which a spare leader that is silent counts as gone, and says whether this one
// does. It counts calls, since a process that was stopped itself has missed them, too.
func (c *course) tick() (gone bool) {
	c.quiet++
	return c.quiet > beats
}

// pause is how long a process waits when it couldn't meet a spare, before it turns to the next.
func pause(silence time.Duration) time.Duration { return silence / (2 * beats) }
