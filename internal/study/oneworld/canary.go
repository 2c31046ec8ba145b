package oneworld

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/runtime/wire"
)

// Bug is a mistake that a run makes on purpose, to see that the checks find it.
type Bug uint8

// Bugs.
const (
	NoBug            Bug = iota
	CertainByRefusal     // a refused connection counts as certain death
	ForgottenLease       // an agent forgets its lease: neither it nor the kernel kills
	OldTerm              // a steward that was replaced commands on, and agents obey
	NoOffsets            // the console shows what the leading replica writes, wherever that begins
	SharedHost           // a replacement starts on the host of its sibling
	EarlyRelease         // what is retained for siblings is dropped too early
	OwnQuorum            // processes decide by a quorum of their own, beside that of the agents
	KeptByOne            // what a rank has printed is kept by the agent of one replica only
	Untold               // agents don't tell a new steward what their processes have said to the one before
	SentOnce             // agents don't send a new console again what the one before may not have shown
	Unasked              // a process is retired before its donor has given a sign of life
	LeftWithOutput       // a drained host leaves with output that nobody has taken
	DeadAtBirth          // a replacement is told that others which join at the same time are dead
	LateForgotten        // a new steward tells that a replacement is dead which the one before has begun
	bugs
)

var bugNames = [...]string{"none", "certain death by refusal", "forgotten lease", "old term", "no offsets", "shared host", "early release", "own quorum", "kept by one",
	"untold", "sent once", "unasked", "left with output", "dead at birth", "late forgotten"}

func (b Bug) String() string { return bugNames[b] }

// BugNames are those that ParseBug takes.
func BugNames() []string { return bugNames[:] }

// ParseBug finds a bug by its name.
func ParseBug(name string) (Bug, error) {
	i := slices.Index(bugNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("%q: want %s", name, strings.Join(bugNames[:], ", "))
	}
	return Bug(i), nil
}

// frame spoils what a process sends.
func (b Bug) frame(r *rank, f *frame) {
	if b == EarlyRelease && f.header.Kind == wire.KindAck && r.self%2 == 0 {
		for i := 8; i < len(f.payload); i += wire.AckSize {
			f.payload[i] += 3 // it acknowledges messages that haven't come
		}
	}
}
