package launcher

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Report says what happened to a job. As JSON, times are in seconds since the start, and unknown
// values are left out.
type Report struct {
	Command   []string  `json:"command"` // program and arguments; ":" between several programs
	Ranks     int       `json:"ranks"`
	Replicas  int       `json:"replicas"`          // of each rank
	Degrees   []int     `json:"degrees,omitempty"` // of each rank, if they differ; then Replicas is the highest
	Protocol  string    `json:"protocol"`
	Transport string    `json:"transport"`
	Start     time.Time `json:"start"`               // when all processes had been started
	Connect   Seconds   `json:"connect_s,omitempty"` // until the other hosts had answered, since they were called
	Agents    Seconds   `json:"agents_s,omitempty"`  // until their agents had come
	Duration  Seconds   `json:"duration_s"`
	ExitCode  int       `json:"exit_code"`
	// Outcome is one of the Outcome constants. Reason is a sentence that explains it.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	// LostRanks are the ranks whose replicas all died.
	LostRanks []int `json:"lost_ranks"`
	// Hosts are those of the job, in the order of its agents.
	Hosts  []HostReport `json:"hosts"`
	Deaths []Death      `json:"deaths"` // in the order in which they were found
	Heals  []Heal       `json:"heals"`  // replacements, in the order in which they were healed or failed
	// Snapshots are those that were committed, and Rollbacks tells when the job went back.
	Snapshots []SnapshotReport `json:"snapshots,omitempty"`
	Rollbacks []RollbackReport `json:"rollbacks,omitempty"`
	Views     []View           `json:"views"`    // after the first, as the coordinators told the launcher
	Faults    []Fault          `json:"faults"`   // as planned
	Warnings  []string         `json:"warnings"` // and other remarks
}

// Outcomes of a job.
const (
	OutcomeCompleted   = "completed"   // every process has ended by itself
	OutcomeRankLost    = "rank lost"   // and the program doesn't handle the loss
	OutcomeAborted     = "aborted"     // by the program
	OutcomeInterrupted = "interrupted" // by a signal to the launcher
	OutcomeTimedOut    = "timed out"   // it took longer than Config.Limit
)

// View is a view of the job: its members, as all of them agreed.
type View struct {
	Number  uint64  `json:"number"`
	Members int     `json:"members"`
	Gone    []Gone  `json:"gone"`             // since the view before
	Joined  []int   `json:"joined,omitempty"` // processes, since the view before
	At      Seconds `json:"at_s"`             // when its coordinator had told the launcher
}

// Gone is a process that a view has excluded.
type Gone struct {
	Process int    `json:"process"`
	Why     string `json:"why"` // "died" (for certain), "silent" or "left"
}

// HostReport is a host of the job.
type HostReport struct {
	Name  string `json:"name"`
	Cores int    `json:"cores"` // on which processes may run
	// Processes are the numbers of those that started there at first. Death and Heal tell of
	// later ones.
	Processes []int `json:"processes"`
	// Joined is when the host was added to the job, if it wasn't there from the beginning.
	Joined *Seconds `json:"joined_s,omitempty"`
	// Left is when it left the job, because it was drained.
	Left *Seconds `json:"left_s,omitempty"`
	// Lost is when it was certain that the host is lost.
	Lost *Seconds `json:"lost_s,omitempty"`
	// Reason says why, in words, if its agent knows.
	Reason string `json:"reason,omitempty"`
}

// Death is the death of one process.
type Death struct {
	Rank    int    `json:"rank"`
	Replica int    `json:"replica"`
	Process int    `json:"process"` // its number in the job
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	// Cause is one of the Cause constants.
	Cause  string `json:"cause"`
	Signal int    `json:"signal,omitempty"`
	Code   int    `json:"code,omitempty"`
	// Finalized says that it had finalised before.
	Finalized bool `json:"finalized,omitempty"`
	// FoundBy is "launcher", or "process N" for a process found silent.
	FoundBy string  `json:"found_by"`
	At      Seconds `json:"at_s"` // when it was certain
	// Latency is how long it took to find the death: from the injected fault, or, if it was
	// found by silence, from the last sign of life.
	Latency *Seconds `json:"latency_s,omitempty"`
	// Substitute is the replica that stands in for the dead one.
	Substitute *int `json:"substitute,omitempty"`
}

// Heal is an attempt to fill a vacant replica slot.
type Heal struct {
	Rank        int     `json:"rank"`
	Replica     int     `json:"replica"`
	Process     int     `json:"process"` // its number in the job
	PID         int     `json:"pid,omitempty"`
	Host        string  `json:"host,omitempty"`
	Incarnation uint32  `json:"incarnation"` // 1 for the first replacement in the slot
	Donor       int     `json:"donor"`       // the replica whose state the replacement took over
	Began       Seconds `json:"began_s"`
	Took        Seconds `json:"took_s"`
	Error       string  `json:"error,omitempty"` // why it failed
}

// SnapshotReport is a snapshot that was committed.
type SnapshotReport struct {
	Number uint64  `json:"number"`
	At     Seconds `json:"at_s"`     // when it was begun
	Paused Seconds `json:"paused_s"` // until all ranks went on; most of them stood still for less
	Took   Seconds `json:"took_s"`   // until it was committed
	Held   Seconds `json:"held_s"`   // from when the first rank stood still until all went on
	Stood  Seconds `json:"stood_s"`  // how long the slowest rank took to keep its part
	Bytes  int64   `json:"bytes"`    // of the parts of all ranks
	// Changed is how much of that the ranks had to write, since their memory had the rest from
	// the last snapshot but one; Copied is how much went to other hosts, for the same reason.
	Changed int64 `json:"changed_bytes"`
	Copied  int64 `json:"copied_bytes"`
}

// RollbackReport is a rollback.
type RollbackReport struct {
	Snapshot uint64  `json:"snapshot"` // 0: the beginning
	At       Seconds `json:"at_s"`     // when the death was known
	Took     Seconds `json:"took_s"`   // until all processes had been started again
	// Restored is how long it took until the ranks went on from the snapshot; nil: they haven't.
	Restored *Seconds `json:"restored_s,omitempty"`
}

// Causes of death.
const (
	CauseSignal      = "signal"
	CauseExit        = "exit"        // with a code other than 0
	CauseUnfinalized = "unfinalized" // exit 0 without having finalised
	CauseCorruption  = "corruption"  // data that it sent or received was wrong; the launcher killed it
	CauseSilence     = "silence"     // no heartbeat, or stopped; the launcher killed it
	CauseDrained     = "drained"     // its host is to leave the job; the launcher killed it
	CauseDismissed   = "dismissed"   // a rank was lost, and the job goes on with another replica of this one's rank
	CauseHostLost    = "host lost"   // its host, or its agent, can't be reached any more
)

// Fault is a planned fault.
type Fault struct {
	Event string `json:"event"` // in the language of fault plans
	// Injected is when the launcher carried it out. Processes carry out faults at sends
	// themselves; the launcher doesn't know when.
	Injected *Seconds `json:"injected_s,omitempty"`
}

// Seconds is a duration, written as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes microseconds, which is as fine as the launcher sees.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.6f", time.Duration(s).Seconds()), nil
}

// Write writes the report as indented JSON.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// line is the line on stderr that tells of a death. name names the process.
func (d *Death) line(name, how string) string {
	s := fmt.Sprintf("%s died: %s; found by ", name, how)
	if d.FoundBy == foundByLauncher {
		s += "the "
	}
	s += d.FoundBy
	switch d.Cause {
	case CauseDismissed:
		s = fmt.Sprintf("%s was ended, because a rank is lost and the job goes on with one replica of each", name)
	case CauseDrained:
		s = fmt.Sprintf("%s was ended, because its host is drained", name)
	}
	if d.Latency != nil {
		s += " after " + brief(time.Duration(*d.Latency))
	}
	if d.Substitute != nil {
		s += fmt.Sprintf("; replica %d substitutes", *d.Substitute)
	}
	return s
}

const foundByLauncher = "launcher"

// brief rounds a duration to three digits.
func brief(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
