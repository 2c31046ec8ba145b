// Package recovery decides how the dead replicas of a job are replaced. It is a pure machine. One
// party leads the recovery and drives it: the launcher, or the spare leader of a job that runs
// under another launcher. The machine decides which vacant replica slot is next, which replica
// donates its state to the replacement, which messages are sent to whom, when an attempt has taken
// too long or has failed, and when a slot is given up.
//
// It follows the recovery of "Replication for send-deterministic MPI HPC applications" (Lefray,
// Ropars, Schiper, FTXS '13, section 3.4), for any number of replicas and with deaths at any
// moment.
//
// # The protocol
//
//	replacement               leader                donor, others
//	              Start →
//	arrived     →             Admit              →  all
//	                          Donate             →  donor
//	                                             ←  mark: its program is paused
//	                    Drain, Follow, Marked    →  donor     (if the leader sees output)
//	committed   →             Fill
//	healed      →             Healed
//
// Slots of different ranks are filled at the same time. Each has an attempt of its own, with its
// donor, its limits and its end, and what becomes of one doesn't touch another. Slots of one rank
// are filled in turn: they would have the same donor, or the later one a donor that isn't a replica
// yet. Package replica has the reasons, and decision 73.
//
// The launcher sees all output of the processes. It reads the donor's output up to the mark, lets
// the replacement's output follow it, and only then answers the mark. The donor waits for that
// answer before it gives its state away. So until then a leader can see to it that what the donor
// wrote doesn't die with the donor's host. A spare leader sees no output. There the donor doesn't
// wait, and the mark only stops the clock of a phase.
//
// # Moving processes
//
// A process may have to leave its host while it lives (Leave). The machine retires it, that is,
// has it killed, when another replica can donate its state and a host fits, and then fills its
// slot as that of any other dead process. Just before, that replica must have answered (Ask,
// Heard): one that is silent and not yet held for dead may be dead, and then the process is the
// last of its rank. Processes are retired one by one, each when the slot of the one before is
// filled or given up, and never during an attempt of any rank.
//
// # The phases of an attempt
//
//	GetReady      until the replacement can be reached
//	FindSafepoint until the donor's program is paused at a safe point
//	TakeOver      until the replacement has the donor's state
//	BecomeKnown   until all others have welcomed the replacement
//
// An attempt that has to end is dismissed. From then on only the death of its replacement counts,
// and that death ends the attempt. A replacement that has committed is a replica, and its death is
// the death of a replica.
//
// A replacement whose donor may have given it its state isn't dismissed because it is late, or
// because its donor has died: it may have committed, and be the last of its rank. It is asked to
// give up (AskToGiveUp), and only it decides. It ends and says so, or says again that it has
// committed. One that doesn't answer within the limit hangs, and is dismissed. One that has
// committed and doesn't become known is dismissed, too, if another replica of its rank has just
// answered (Ask, Heard): a second attempt may do better.
//
// # Invariants
//
//   - There is at most one attempt of a rank at a time, and at most as many in all as the caller
//     allows. Each has an incarnation of its slot that no process had before, and ends once.
//   - An attempt ends because of its replacement, of another replica of its rank, of its limit, or
//     of the job: never because of another attempt.
//   - Slots wait in the order of the deaths. A slot whose rank has no donor, or has an attempt, is
//     passed over. No other one waits while there may be more attempts.
//   - A phase that takes longer than the limit ends the attempt. Two exceptions: a donor may take
//     longer to reach a safe point while no slot waits for the end of this attempt; and a
//     replacement that has committed and is the last of its rank stays as long as it answers.
//   - Attempts at the same time share processors and networks. So if one doesn't get ready, or
//     doesn't get its state, within the limit, that isn't counted against its slot, and from then
//     on there are at most half as many at a time. One that was alone is to blame for itself.
//   - The machine ends no replacement that has committed and answers, unless another replica of its
//     rank has just answered, another process holds it for dead, the job ends, or the caller
//     doesn't lead any more (StepDown).
//   - After MaxFailures attempts in a row that failed, or whose replacement died within Relapse,
//     the slot stays vacant.
//   - At most one slot is vacant because its process was retired. At that moment another replica of
//     its rank that could donate its state had just answered.
//   - Each mark is answered, unless the donor dies first. Otherwise the donor's program would stay
//     paused for ever. A mark for a replacement that is being ended is answered when that has
//     ended.
//   - The others are told of the death of a replacement if they were told of its arrival and it
//     wasn't a replica yet.
//   - A message may come from any process at any time, about any incarnation. A message that
//     doesn't fit has no effect, except that a mark is answered.
//
// # Another leader
//
// A leader that is lost may leave replacements under way. The next one is told of them (Resume),
// and goes on with those that may have committed. It dismisses the others, as any attempt: until
// such a one has ended its slot isn't filled, the others aren't told of its death, and its donor
// gets no answer.
//
// # What is explored
//
// The tests explore all orders of events in jobs of one rank with two and with three replicas, and
// of two ranks with two replicas each, with one attempt at a time and with two, whether the leader
// sees output or not: processes die at every moment or have to leave, messages come late, limits
// run out, the job ends, the leader is lost and another one goes on (world_test.go,
// succession_test.go). explore_test.go has the sizes and the numbers of faults. canary_test.go
// checks that the exploration finds mistakes that were made or could be made.
//
// # Limits
//
// The machine knows only what it is told: the caller says whether a process can be a donor now. The
// calls that only a spare leader makes (Filled, NumberFrom, StepDown) aren't explored. They are
// tested with random inputs here, and with several leaders in package spares.
package recovery

import (
	"time"

	"banyan/internal/proto"
)

const (
	// Limit is how long each phase of an attempt may take.
	Limit = 60 * time.Second
	// MaxFailures is how many replacements for one slot in a row may fail, or die within Relapse of
	// having been healed.
	MaxFailures = 3
	Relapse     = time.Second
)

// End is the reason for which attempts fail, or aren't made, when the job is over.
const End = "the job has come to its end"

// LeaderLost is the reason for which an attempt fails whose leader was lost before the donor's mark
// was answered.
const LeaderLost = "its launcher was lost"

// Phase is the step of an attempt that comes next.
type Phase uint8

// Phases, in their order.
const (
	GetReady Phase = iota
	FindSafepoint
	TakeOver
	BecomeKnown
)

func (p Phase) String() string {
	return [...]string{
		"get ready", "find the program of its donor at a safe point", "take over the state of its donor", "become known to all",
	}[p]
}

// Process is one incarnation of a replica slot.
type Process struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation
}

// Attempt is a replacement that isn't a replica yet, or that some processes don't know yet.
type Attempt struct {
	Process
	Donor Process
	Began proto.Time
	Phase Phase
	Why   string // the attempt fails; the first reason counts

	blame     Blame
	donorDied bool
	follows   bool // the replacement's output follows the donor's
	dismissed bool
	late      string // it has committed, and is ended for this reason when a sibling shows that it lives
	asked     bool   // the replacement has been asked to give up, and hasn't answered yet
	deadline  proto.Time
}

// Committed says that the replacement has the donor's whole state: it fills its slot.
func (a *Attempt) Committed() bool { return a.Phase == BecomeKnown }

// Dismissed says that the replacement is to end, and hasn't yet.
func (a *Attempt) Dismissed() bool { return a.dismissed }

// admitted says that the others have been told of the replacement.
func (a *Attempt) admitted() bool { return a.Phase > GetReady }

// Blame says what caused the failure of an attempt.
type Blame uint8

// Kinds of Blame.
const (
	Replacement Blame = iota // the replacement failed: trying for ever makes no sense
	Donor                    // any other replacement would fail in the same way with this donor
	Nobody                   // the replacement couldn't help it
)
