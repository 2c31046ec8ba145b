// Package vacancy decides how the places that deaths leave in a job are filled again: which
// one is next, who gives its state to the newcomer there, when an attempt has taken too
// long, and when a place is given up. It serves everybody who starts newcomers: the launcher,
// and the warden of a job under another one.
//
// What it follows is the recovery of "Replication for send-deterministic MPI HPC
// applications" (Lefray, Ropars, Schiper, FTXS '13, section 3.4), for any number of replicas
// and with deaths at every moment.
//
// # The parts of an attempt
//
//	GetReady      until the newcomer can be reached
//	FindSafepoint until the donor's program is paused at a safe point
//	TakeOver      until the newcomer has the donor's state
//	BecomeKnown   until all others have welcomed it
//
// # Invariants
//
//   - There is one attempt at a time, and each has a life of its place that none had before.
//   - Places wait in the order of the deaths. One whose rank has no donor is passed over.
//   - A part that takes longer than the limit ends the attempt, but for a donor that
//     doesn't come to a safe point while nobody else waits.
//   - MaxFailures attempts in a row that failed, or whose newcomer died within
//     Relapse, and the place stays empty.
//
// # Limits
//
// It knows what it is told: whether a process can be a donor now is the caller's word.
package vacancy

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/replica"
)

const (
	// Limit is how long each part of an attempt may take.
	Limit = 60 * time.Second
	// MaxFailures is how many newcomers to one place in a row may fail, or die within
	// Relapse of having been healed.
	MaxFailures = 3
	Relapse     = time.Second
)

// Part is what an attempt is about to do.
type Part uint8

// Parts, in their order.
const (
	GetReady Part = iota
	FindSafepoint
	TakeOver
	BecomeKnown
)

func (p Part) String() string {
	return [...]string{
		"get ready", "find the program of its donor at a safe point", "take over the state of its donor", "become known to all",
	}[p]
}

// Attempt is a newcomer that isn't a replica yet, or that not all know yet.
type Attempt struct {
	Slot  proto.Proc // whose place it takes
	Life  uint32     // its incarnation
	Donor proto.Proc
	Began proto.Time
	Part  Part
	// Why it fails, if that is known before it has ended. The first reason counts.
	Why string
	// Hopeless: the same would happen to any other newcomer with this donor.
	Hopeless bool

	deadline proto.Time
}

// Committed says that the newcomer has all it needs: its place has a process again.
func (a *Attempt) Committed() bool { return a.Part == BecomeKnown }

// Blame says why an attempt is about to fail.
func (a *Attempt) Blame(why string) {
	if a.Why == "" {
		a.Why = why
	}
}

// place is where a process is or was.
type place struct {
	lives    uint32 // how many newcomers there have been
	failures int    // of them, in a row and up to now
	healable bool   // its process has come to a safe point, and can be a donor
	barred   bool   // it could be, and can't for good
	healed   bool   // its process is a newcomer that all know, since at
	at       proto.Time
}

// Board knows the places of one job. It is no goroutine's but the caller's.
type Board struct {
	layout  replica.Layout
	limit   proto.Time
	places  []place
	waiting []proto.Proc // in the order of the deaths
	from    uint32       // no life that is given from now on is lower
	now     *Attempt     // nil: none
	over    bool         // nobody needs newcomers any more
}

// New makes the board of a job in which all are alive. limit is for each part of an attempt,
// 0 for Limit.
func New(layout replica.Layout, limit time.Duration) *Board {
	if limit == 0 {
		limit = Limit
	}
	return &Board{layout: layout, limit: proto.Time(limit), places: make([]place, layout.Procs())}
}

// Healable notes that a process has come to a safe point: its rank can be healed from it.
func (b *Board) Healable(p proto.Proc) { b.places[p].healable = !b.places[p].barred }

// Lives is the incarnation of the last newcomer in a place, 0 if there was none.
func (b *Board) Lives(p proto.Proc) uint32 { return b.places[p].lives }

// Filled notes that somebody else has given a place away, in a life. If that is news, the place
// doesn't wait any more, and the next life is a higher one.
func (b *Board) Filled(p proto.Proc, life uint32) {
	if life > b.places[p].lives {
		b.places[p] = place{lives: life}
		b.waiting = slices.DeleteFunc(b.waiting, func(q proto.Proc) bool { return q == p })
	}
}

// From says that somebody else may have given away lives below one, of which nobody here has heard.
func (b *Board) From(life uint32) { b.from = life }

// Now is the present attempt, or nil.
func (b *Board) Now() *Attempt { return b.now }

// Contested says whether somebody else waits for the present attempt to end.
func (b *Board) Contested() bool { return len(b.waiting) > 0 }

// Vacated takes the death of a process that was in its place. What it returns, if anything,
// is for the user.
func (b *Board) Vacated(now proto.Time, p proto.Proc) (note string) {
	s := &b.places[p]
	s.healable, s.barred = false, false
	rank := b.layout.Rank(p)
	if b.over || b.layout.Degree(rank) == 1 {
		return ""
	}
	if s.healed {
		if now-s.at < proto.Time(Relapse) {
			s.failures++
		} else {
			s.failures = 0
		}
		s.healed = false
	}
	if s.failures >= MaxFailures {
		return fmt.Sprintf("%s isn't replaced any more: the last %d newcomers were of no use", b.name(p), MaxFailures)
	}
	b.waiting = append(b.waiting, p)
	return ""
}

// Next begins the next attempt, or returns nil if that can't be now. fits says whether there
// can be a newcomer to a place, and donates whether a process that is
// healable is there to be a donor.
func (b *Board) Next(now proto.Time, fits, donates func(p proto.Proc) bool) *Attempt {
	if b.now != nil || b.over {
		return nil
	}
	for i, slot := range b.waiting {
		donor := b.donor(b.layout.Rank(slot), donates)
		if donor == proto.NoProc || !fits(slot) {
			continue
		}
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.places[slot].lives = max(b.places[slot].lives+1, b.from)
		b.now = &Attempt{Slot: slot, Life: b.places[slot].lives, Donor: donor, Began: now}
		b.Enter(now, GetReady)
		return b.now
	}
	return nil
}

// Needy is the first place that waits with a donor there, NoProc if none does.
func (b *Board) Needy(donates func(p proto.Proc) bool) proto.Proc {
	for _, slot := range b.waiting {
		if b.donor(b.layout.Rank(slot), donates) != proto.NoProc {
			return slot
		}
	}
	return proto.NoProc
}

// donor is the lowest live replica of a rank whose state can be had, or NoProc.
func (b *Board) donor(rank proto.Rank, donates func(p proto.Proc) bool) proto.Proc {
	for k := range b.layout.Degree(rank) {
		if p := b.layout.Proc(rank, k); b.places[p].healable && donates(p) {
			return p
		}
	}
	return proto.NoProc
}

// Enter begins a part of the present attempt.
func (b *Board) Enter(now proto.Time, part Part) {
	b.now.Part = part
	b.now.deadline = now + b.limit
}

// Deadline is when Late has to be asked, Never if there is no attempt.
func (b *Board) Deadline() proto.Time {
	if b.now == nil {
		return proto.Never
	}
	return b.now.deadline
}

// Late says why the present attempt must end, or nothing if it has time. It is to be asked
// at the deadline, and again at the next one.
func (b *Board) Late(now proto.Time) (why string) {
	a := b.now
	if a == nil || now < a.deadline {
		return ""
	}
	a.deadline = now + b.limit
	if a.Part == FindSafepoint && !b.Contested() {
		return "" // nobody else waits for it
	}
	return fmt.Sprintf("it didn't %v within %v", a.Part, time.Duration(b.limit))
}

// Healed ends the present attempt: all know the newcomer, which can be a donor itself. The note is for
// the user; pid is the newcomer's.
func (b *Board) Healed(now proto.Time, pid int) (note string) {
	a := b.now
	b.now = nil
	s := &b.places[a.Slot]
	s.healed, s.at = true, now
	return fmt.Sprintf("%s is back after %s (pid %d), with the state of replica %d",
		b.name(a.Slot), time.Duration(now-a.Began).Round(time.Millisecond), pid, b.layout.Replica(a.Donor))
}

// Died ends the present attempt, whose newcomer had committed: it has died like any other.
func (b *Board) Died() { b.now = nil }

// Failed ends the present attempt, which was of no use. excused says that it wasn't the newcomer's
// fault, as when its donor has died; otherwise there is no sense in trying for ever. The note
// is for the user.
func (b *Board) Failed(excused bool) (note string) {
	a := b.now
	b.now = nil
	s := &b.places[a.Slot]
	switch {
	case excused:
	case a.Hopeless:
		d := &b.places[a.Donor]
		d.healable, d.barred = false, true
	default:
		s.failures++
	}
	note = fmt.Sprintf("%s couldn't be replaced: %s", b.name(a.Slot), a.Why)
	switch {
	case b.over:
		return note
	case s.failures >= MaxFailures:
		return fmt.Sprintf("%s; after %d attempts it stays dead", note, MaxFailures)
	case b.places[a.Donor].barred:
		note = fmt.Sprintf("%s; replica %d isn't asked again", note, b.layout.Replica(a.Donor))
	}
	b.waiting = append(b.waiting, a.Slot)
	return note
}

// End is why an attempt fails, or isn't made, when the job is Over.
const End = "the job has come to its end"

// Over says that the job is about to end: nobody needs newcomers any more. It returns, for
// the user, which places are left empty. An attempt that is under way is the caller's to end.
func (b *Board) Over() (notes []string) {
	if b.over {
		return nil
	}
	b.over = true
	for _, slot := range b.waiting {
		why := End
		switch rank := b.layout.Rank(slot); {
		case b.any(rank, func(s *place) bool { return s.healable }):
		case b.any(rank, func(s *place) bool { return s.barred }):
			continue // it was said
		default:
			why = "no other has come to a safe point that could be used"
		}
		notes = append(notes, fmt.Sprintf("%s wasn't replaced: %s", b.name(slot), why))
	}
	return notes
}

// any says whether something is so of a place of a rank.
func (b *Board) any(rank proto.Rank, is func(s *place) bool) bool {
	for k := range b.layout.Degree(rank) {
		if is(&b.places[b.layout.Proc(rank, k)]) {
			return true
		}
	}
	return false
}

// IsOver says whether that was so.
func (b *Board) IsOver() bool { return b.over }

func (b *Board) name(p proto.Proc) string {
	return fmt.Sprintf("rank %d: replica %d", b.layout.Rank(p), b.layout.Replica(p))
}
