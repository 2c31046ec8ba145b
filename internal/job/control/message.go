package control

import (
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
	"banyan/internal/proto/thinning"
)

// Type says what a Message is.
type Type string

// From a process to the launcher.
const (
	// Ready: the library is initialised. From now on an exit without Finalized is a death, and
	// the process takes part in the detection of failures. Pid is the process that says so. It is
	// a child of the process that the launcher has started if that is a debugger, say, or a
	// shell.
	Ready Type = "ready"
	// Survive: the program handles the loss of ranks itself. Losing one doesn't end the job.
	Survive Type = "survive"
	// Led: from here on a replica of this process's rank decides what timing decides, with --order
	// auto. Cause is what the program does, in words, and Text where; empty if that is unknown.
	Led Type = "led"
	// Suspect: Proc has been silent for Silent. The launcher kills it, even if it is stopped, and
	// tells the others of its Death.
	Suspect Type = "suspect"
	// Corrupted: Proc has sent or received data that other replicas don't have. Text says which.
	// The launcher kills it.
	Corrupted Type = "corrupted"
	// Finalized: the process leaves in order. An exit with code 0 is no death.
	Finalized Type = "finalized"
	// View: a view of the job is in force. Number is its number, and Members the number of its
	// members. Gone are those that left it since the view before, and why; Joined are those that
	// joined it. The coordinator sends this once for each view.
	View Type = "view"
	// Abort: end the job with Code, because of Text. Group, if it isn't empty, are the processes
	// that end if the program handles the loss of ranks: the job goes on without them.
	Abort Type = "abort"
	// Waits answers Explain, with its Number: Text says what the process waits for, in the words
	// that follow its name.
	Waits Type = "waits"
	// Healable: this process has come to its first safe point, so that a replacement in its rank
	// can have its state. It waits for Noted before it reads more input. Opaque says that it may
	// have read more than its program has taken, and can't tell how much.
	Healable Type = "healable"
	// Unhealable: this process can't give its state away, because of Text. From a replacement: no
	// other replacement could have its donor's state either.
	Unhealable Type = "unhealable"
	// Arrived, from a replacement: the others can reach it.
	Arrived Type = "arrived"
	// Mark, from the donor of Proc in Incarnation: all that its program has written is out, and
	// it waits for Marked before it writes more. What the replacement writes comes after that.
	Mark Type = "mark"
	// Committed, from a replacement: it is a replica from now on, even if its donor dies. It says
	// so again when it is asked to give up.
	Committed Type = "committed"
	// Healed, from a replacement: all processes know it, and its program goes on.
	Healed Type = "healed"
	// HealFailed, from a replacement: it can't be one, because of Text, and ends.
	HealFailed Type = "heal failed"
	// Spawn: start the programs of Spawned. Number tells apart what a process asks for.
	Spawn Type = "spawn"
	// Counted answers Count: Number is how many messages the process has of lost ranks.
	Counted Type = "counted"
	// Settled: after Thin, this process has sent all that others have of its rank. Results are
	// agreements that have ended here, Number is how many messages Owe have come. Opaque says that
	// this isn't the last of several messages.
	Settled Type = "settled"
	// Claim: after Thin, this process owes and has waited for long for what Claims say. They take
	// the place of those that it had before.
	Claim Type = "claim"
	// Disown: what was started by Number can't be reached. How it ends says nothing of the job.
	Disown Type = "disown"
	// Lost: the program was told that the rank of Proc is lost. Text says in which operation.
	// This is for the report only.
	Lost Type = "lost"
)

// Snapshots (internal/proto/rollback).
const (
	// SnapshotReport, from a process: Report is for the coordinator, and Kept tells of a part that
	// is Captured.
	SnapshotReport Type = "snapshot report"
	// SnapshotOrder, from the launcher: Order is for the participant. A flush says in which memory
	// the process keeps its state, Code, and how much of the job's input it has read, Input.
	SnapshotOrder Type = "snapshot order"
	// Through, from a process: its program has finalised, and comes to no safe point any more.
	Through Type = "through"
	// AtSafepoint, from a process: its program is at its first safe point, and waits for Noted.
	// Opaque is as of Healable.
	AtSafepoint Type = "at safe point"
	// Prepared, from a process: it has made room for its parts, or has failed to, or will soon.
	Prepared Type = "prepared"
)

// From a process to the spare leader.
const (
	// Member: this is Proc in Incarnation, with process id Pid, at the address Card. It runs the
	// job's program Number.
	Member Type = "member"
	// Spare: this is a process without a replica slot, with process id Pid. It runs the job's
	// program Number.
	Spare Type = "spare"
	// Knows: Proc was admitted in Incarnation, as far as this process was told.
	Knows Type = "knows"
	// Eviction is an eviction notice: this process holds Proc for dead, in its incarnations up to
	// Incarnation.
	Eviction Type = "eviction notice"
	// Excluded: a view of the job excludes Proc in Incarnation. That isn't known to have left.
	Excluded Type = "excluded"
)

// Between a process and the spare leader, in both directions.
const (
	// Term: the spare leaders' term Number has begun, and this connection belongs to that term.
	// The spare leader repeats it as a sign of life. A process sends it when it connects, and
	// with a higher number when it goes on to the next spare leader.
	Term Type = "term"
)

// From the spare leader to a process, beside what the launcher says about recovery. The spare
// leader also sends Healed, of Proc in Incarnation. It sends Finalized as its answer to that, and
// to the spares as soon as a process has left in order; they tell it to the next spare leader.
const (
	// Take: this spare is Proc in Incarnation from now on. What it was told before is the state
	// of the other processes.
	Take Type = "take"
	// Dismissed: the job is over or doesn't need this replacement. The process must end with
	// Code, because of Text.
	Dismissed Type = "dismissed"
)

// From the launcher to a process.
const (
	// Death: Proc has ended, other than in order, by Signal, or with exit code Code if Signal is
	// 0. This is certain: it was reaped, or its host's lease is over.
	Death Type = "death"
	// Left: Proc has ended in order.
	Left Type = "left"
	// Traced: a debugger is attached to Proc and may stop it at any time. Its silence is no
	// death.
	Traced Type = "traced"
	// Untraced: no debugger is attached to Proc any more.
	Untraced Type = "untraced"
	// Explain asks the process what it waits for: a user wants to know why the job hangs. With a
	// Number the launcher wants to know whether the process lives.
	Explain Type = "explain"
	// Admit: a replacement fills the slot of Proc, which has died, in Incarnation. The spare
	// leader says at which address: Card. The launcher's processes look it up.
	Admit Type = "admit"
	// Donate: this process is the donor of Proc in Incarnation, which has Arrived.
	Donate Type = "donate"
	// Marked answers Mark, about the same Proc and Incarnation. Input is how much of the job's
	// input has been read by now.
	Marked Type = "marked"
	// GiveUp asks a replacement to end with HealFailed, because of Text. If it has Committed it
	// says that again instead.
	GiveUp Type = "give up"
	// Noted answers Healable. Input is how much of the job's input had been read.
	Noted Type = "noted"
	// Spawned answers Spawn, with its Number: the processes were started, or, if there is a Text,
	// weren't, because of program Code (-1: because of none of them).
	Spawned Type = "spawned"
	// SpawnEnded: all processes of that number have ended, as Text says.
	SpawnEnded Type = "spawn ended"
	// Count asks how many messages the process has of lost ranks (internal/proto/thinning).
	Count Type = "count"
	// Thin: the job goes on with the processes of Group, by rank; NoProc is a lost one.
	Thin Type = "thin"
	// Owe: Debts are what others claim of this process's rank, and nothing else is claimed.
	Owe Type = "owe"
	// Show: the losses show to the program. Results are agreements that have ended elsewhere.
	// Opaque says that this isn't the last of several messages, and then nothing shows yet.
	Show Type = "show"
	// Shutdown: the job is being ended, because of Text. A kill follows.
	Shutdown Type = "shutdown"
)

// Message is one line on the lifeline.
type Message struct {
	Type Type       `json:"type"`
	Proc proto.Proc `json:"proc,omitempty"`
	// Incarnation says which process in the slot of Proc is meant.
	Incarnation proto.Incarnation `json:"incarnation,omitempty"`
	Code        int               `json:"code,omitempty"`
	Pid         int               `json:"pid,omitempty"`
	Signal      int               `json:"signal,omitempty"`
	Cause       string            `json:"cause,omitempty"` // of a Death, in words
	Text        string            `json:"text,omitempty"`
	Silent      time.Duration     `json:"silent_ns,omitempty"`
	Input       int64             `json:"input,omitempty"` // bytes
	Opaque      bool              `json:"opaque,omitempty"`

	Card string `json:"card,omitempty"`

	Number  uint64       `json:"number,omitempty"`
	Members int          `json:"members,omitempty"`
	Gone    []Gone       `json:"gone,omitempty"`
	Joined  []proto.Proc `json:"joined,omitempty"`
	Group   []proto.Proc `json:"group,omitempty"`

	Order  *rollback.Order  `json:"order,omitempty"`
	Report *rollback.Report `json:"report,omitempty"`
	Kept   *Kept            `json:"kept,omitempty"`

	Spawned *SpawnOrder `json:"spawned,omitempty"`

	Results []thinning.Result `json:"results,omitempty"`
	Claims  []thinning.Claim  `json:"claims,omitempty"`
	Debts   []thinning.Debt   `json:"debts,omitempty"`
}

// Kept is what keeping a rank's part of a snapshot took.
type Kept struct {
	Bytes   int64         `json:"bytes"`
	Changed int64         `json:"changed"` // those that differ from what its memory had
	Took    time.Duration `json:"took_ns"` // while the program stood
}

// Gone is a process that a view excludes, and why: "died", "silent" or "left".
type Gone struct {
	Proc proto.Proc `json:"proc"`
	Why  string     `json:"why"`
}
