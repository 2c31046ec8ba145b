// Package recovery has the places that deaths leave in a job filled again. Who leads that, the
// launcher or the spare leader of a job under another one, drives a Healing, which decides: which place is next (Board),
// who gives its state to the replacement there, what is said to whom, when an attempt has taken too long or has come to
// nothing, and when a place is given up.
//
// What it follows is the recovery of "Replication for send-deterministic MPI HPC
// applications" (Lefray, Ropars, Schiper, FTXS '13, section 3.4), for any number of replicas
// and with deaths at every moment.
//
// # The conversation
//
//	replacement               who leads                donor, others
//	              Start →
//	arrived     →             Admit              →  all
//	                          Donate             →  donor
//	                                             ←  mark: its program is paused
//	                    Drain, Follow, Marked    →  donor     (with a witness)
//	committed   →             Seat
//	healed      →             Healed
//
// Who sees all that is written, as the launcher does, is the witness: the donor's output is read to where it is at its mark,
// what the replacement writes follows it, and only then is the mark answered and the state given. Under other launchers nobody is,
// donors don't wait, and the mark is for the time limits.
//
// # The parts of an attempt
//
//	GetReady      until the replacement can be reached
//	FindSafepoint until the donor's program is paused at a safe point
//	TakeOver      until the replacement has the donor's state
//	BecomeKnown   until all others have welcomed it
//
// An attempt that is to end is dismissed: from then on nothing counts that is said about it but the death of its replacement,
// which ends it. A replacement that has committed is a replica, and dies as one.
//
// # Invariants
//
//   - There is one attempt at a time, and each has a life of its place that none had before. It ends once.
//   - Places wait in the order of the deaths. One whose rank has no donor is passed over.
//   - A part that takes longer than the limit ends the attempt, but for a donor that
//     doesn't come to a safe point while nobody else waits.
//   - MaxFailures attempts in a row that failed, or whose replacement died within
//     Relapse, and the place stays empty.
//   - Each mark is answered, unless the donor dies first: its program would be paused for ever.
//   - The others are told of the death of a replacement if they were told of its arrival, and it wasn't a replica yet.
//   - Whatever anybody says at whatever time, of whatever life of a place: what doesn't fit has no effect, but that a mark
//     is answered.
//
// # What is explored
//
// All orders of events in jobs of one rank of two and of three replicas, and of two ranks of two, with and without a
// witness: processes that die at every moment, words that come late, limits that run out, a job that ends
// (world_test.go). The sizes, and how many faults strike, are in explore_test.go. Mistakes that were or
// could be made must be found (canary_test.go).
//
// # Limits
//
// It knows what it is told: whether a process can be a donor now is the caller's word. What only a spare leader says (Filled, From,
// Abdicate) isn't explored, but tried at random: here, and in package spare leader with several of them.
package recovery

import (
	"time"

	"banyan/internal/proto"
)

const (
	// Limit is how long each part of an attempt may take.
	Limit = 60 * time.Second
	// MaxFailures is how many replacements to one place in a row may fail, or die within
	// Relapse of having been healed.
	MaxFailures = 3
	Relapse     = time.Second
)

// End is why an attempt fails, or isn't made, when the job is over.
const End = "the job has come to its end"

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

// Process is one of those that have had a place, or are to have it: the Proc in its incarnation Life.
type Process struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
}

// Attempt is a replacement that isn't a replica yet, or that not all know yet.
type Attempt struct {
	Process
	Donor Process
	Began proto.Time
	Part  Part
	Why   string // it fails; the first reason counts

	blame     Blame
	orphan    bool // its donor has died
	follows   bool // its output follows its donor's
	dismissed bool
	deadline  proto.Time
}

// Committed says that the replacement has all it needs: its place has a process again.
func (a *Attempt) Committed() bool { return a.Part == BecomeKnown }

// admitted says that the others have been told of the replacement.
func (a *Attempt) admitted() bool { return a.Part > GetReady }

// Blame says what the failure of an attempt is held against.
type Blame uint8

// Kinds of Blame.
const (
	Replacement Blame = iota // the one that failed: there is no sense in trying for ever
	Donor                    // the same would happen to any other replacement that had this donor
	Nobody                   // the replacement couldn't help it
)
