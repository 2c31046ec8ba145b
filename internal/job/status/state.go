package status

// Format is the version of the format of a State.
const Format = 1

const (
	// MaxEvents and MaxRates bound what a State keeps: the last ones.
	MaxEvents = 4096
	MaxRates  = 900
)

// Seconds is a time since the start of the job, or a span.
type Seconds = float64

// State is what is known of a job at one time.
type State struct {
	Format int     `json:"format"` // Format
	Job    Job     `json:"job"`
	At     Seconds `json:"at_s"`
	// Over says how the job has ended. nil: it runs.
	Over  *Over  `json:"over,omitempty"`
	Hosts []Host `json:"hosts"`
	// Slots are the replica slots by the number of their process.
	Slots []Slot `json:"processes"`
	// View and Members are the number of the last view, and how many processes it has.
	View    uint64 `json:"view"`
	Members int    `json:"members"`
	// Counting says that the processes count.
	Counting bool     `json:"counting"`
	Survives Survival `json:"survives"`
	// Totals are the sums of the counters of all processes that run.
	Totals Totals `json:"totals"`
	Rates  []Rate `json:"rates"` // the last MaxRates, one a second
	// Circle are ranks of which each waits for the next, and the last for the first.
	Circle []int `json:"circle,omitempty"`
	// Base is what the slots were before the first of Events.
	Base   []Change `json:"base"`
	Events []Event  `json:"events"`
	// Deaths counts the deaths by host and cause.
	Deaths []DeathCount `json:"deaths_by,omitempty"`
	// Addresses are where the job can be watched.
	Addresses []Place `json:"addresses,omitempty"`
	// Old says that the launcher isn't heard any more: this is how the job was At.
	Old bool `json:"old,omitempty"`
}

// DeathCount counts deaths of one host and cause.
type DeathCount struct {
	Host  string `json:"host"`
	Cause string `json:"cause"`
	Count int    `json:"count"`
}

// Place is where a job can be watched: the URL of a page without its token, or unix:PATH, on a
// host.
type Place struct {
	Host string `json:"host"`
	URL  string `json:"url"`
}

// Job is what doesn't change.
type Job struct {
	Name      string   `json:"name"` // for banyan attach
	Command   []string `json:"command"`
	Ranks     int      `json:"ranks"`
	Replicas  int      `json:"replicas"`          // of each rank, at most
	Degrees   []int    `json:"degrees,omitempty"` // of each rank, if they differ
	Protocol  string   `json:"protocol"`
	Transport string   `json:"transport"`
	// HeartbeatPeriod is how often processes send heartbeats.
	HeartbeatPeriod Seconds `json:"heartbeat_period_s"`
	Heal            bool    `json:"heal"`
	Rollback        bool    `json:"rollback"`
	// Control says that those who watch may have something done: see Request.
	Control bool   `json:"control,omitempty"`
	Start   string `json:"start"` // RFC 3339
}

// Over is how a job has ended.
type Over struct {
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason,omitempty"`
	ExitCode int    `json:"exit_code"`
}

// States of a slot.
const (
	Starting = "starting" // its process hasn't initialised the library
	Live     = "live"
	Silent   = "silent" // its process runs, and has counted nothing for a while: stopped, or starved
	Fenced   = "fenced" // the job has gone on without it; it is being killed
	Dead     = "dead"
	Healing  = "healing"  // a replacement is on its way
	Donor    = "donor"    // it lives, and gives its state to a replacement
	Finished = "finished" // it has left in order
	Failed   = "failed"   // it has ended badly after it had left
)

// States of a host.
const (
	HostRuns   = "runs"
	HostWaits  = "waits" // for replacements
	HostDrains = "drains"
	HostLeft   = "left" // after it was drained
	HostLost   = "lost"
)

// Host is a host of the job.
type Host struct {
	Name      string `json:"name"`
	Rack      string `json:"rack,omitempty"`
	State     string `json:"state"`
	Cores     int    `json:"cores"`
	Processes int    `json:"processes"` // that run there
	// Oversubscribed says that more processes run there than it has cores.
	Oversubscribed bool `json:"oversubscribed,omitempty"`
	// Alone are ranks whose live replicas all run there: its loss would lose them.
	Alone int `json:"alone,omitempty"`
}

// Slot is a replica slot, and the process that fills it or filled it last.
type Slot struct {
	Rank        int     `json:"rank"`
	Replica     int     `json:"replica"`
	Host        int     `json:"host"` // a number of Hosts
	PID         int     `json:"pid"`
	Incarnation int     `json:"incarnation"` // how many processes had the slot before
	State       string  `json:"state"`
	Since       Seconds `json:"since_s"` // of the state
	// Counters is what the process has counted; nil: nothing.
	Counters *Counters `json:"counters,omitempty"`
}

// Counters is what a process has counted since it began.
type Counters struct {
	Sent uint64 `json:"sent"` // messages
	// Bytes are those sent through rings and sockets, with what carries them, and those of large
	// messages that this process has read from their senders' memory.
	Bytes uint64 `json:"bytes"`
	// Unexpected are messages that have come and that no receive wants yet.
	Unexpected uint64 `json:"unexpected"`
	// Retained are what is kept for other replicas.
	Retained      uint64 `json:"retained"`
	RetainedBytes uint64 `json:"retained_bytes"`
	Safepoints    uint64 `json:"safepoints"` // passed
	// Expected is how many safe points there are in all, by the program's word; 0: it hasn't said.
	Expected uint64 `json:"safepoints_expected,omitempty"`
	Frames   uint64 `json:"frames"` // sent, heartbeats included
	// Rounds are the periods of its detector: heartbeats that it has sent to its observer. Late are
	// heartbeats that have come to it more than two periods after the one before.
	Rounds uint64 `json:"detector_rounds"`
	Late   uint64 `json:"late_heartbeats"`
	// Waits says what the process waits for, in words that continue "rank 3 …"; empty: nothing.
	Waits string `json:"waits,omitempty"`
	// WaitsSince is since when, to a second or so.
	WaitsSince Seconds `json:"waits_since_s"`
	// WaitsFor is the rank that it waits for first: -1 for any rank, -2 for none.
	WaitsFor int `json:"waits_for"`
	// Silence is how long the process has counted nothing, if that is long.
	Silence Seconds `json:"silence_s,omitempty"`
}

// Values of Counters.WaitsFor that are no rank.
const (
	AnyRank = -1
	NoRank  = -2
)

// Totals are sums over processes.
type Totals struct {
	Live          int    `json:"live"`
	Sent          uint64 `json:"sent"`
	Bytes         uint64 `json:"bytes"`
	Unexpected    uint64 `json:"unexpected"`
	RetainedBytes uint64 `json:"retained_bytes"`
	// Safepoints and Expected are those of the rank that has come least far: of all that it
	// expects, or else the least number.
	Safepoints uint64 `json:"safepoints"`
	Expected   uint64 `json:"safepoints_expected,omitempty"`
	// Left is how long that takes still, at the pace of the last minute; 0: unknown.
	Left        Seconds `json:"left_s,omitempty"`
	Waiting     int     `json:"waiting"` // processes
	Deaths      int     `json:"deaths"`
	Heals       int     `json:"heals"`
	HealsFailed int     `json:"heals_failed"`
	HealSeconds float64 `json:"heal_seconds"`
}

// Rate is what happened in about a second.
type Rate struct {
	At       Seconds `json:"at_s"`
	Messages float64 `json:"messages"` // sent, a second
	Bytes    float64 `json:"bytes"`    // a second
}

// Kinds of events.
const (
	KindStart    = "start"
	KindChange   = "change" // slots have changed, and nothing else is to be said
	KindDeath    = "death"
	KindHostLost = "host lost"
	KindHostCame = "host joined"
	KindHostLeft = "host left"
	KindHealing  = "healing" // a replacement is begun
	KindHealed   = "healed"
	KindNotHeal  = "heal failed"
	KindView     = "view"
	KindSnapshot = "snapshot"
	KindRollback = "rollback"
	KindRankLost = "rank lost"
	KindWarning  = "warning"
	KindLauncher = "launcher" // another launcher has taken over
	KindRequest  = "request"  // somebody who watches has had something done
	KindTrace    = "trace"    // a trace that was asked for is there, or can't be
	KindEnd      = "end"
)

// Event is something that happened.
type Event struct {
	Number uint64  `json:"number"`
	At     Seconds `json:"at_s"`
	Kind   string  `json:"kind"`
	Text   string  `json:"text,omitempty"` // a sentence for people
	// Process and Host are the numbers of what it is about; nil: none.
	Process *int `json:"process,omitempty"`
	Rank    *int `json:"rank,omitempty"`
	Replica *int `json:"replica,omitempty"`
	Host    *int `json:"host,omitempty"`
	// Cause is that of a death, as in the report. Took is how long a heal, a snapshot or a rollback
	// took.
	Cause string  `json:"cause,omitempty"`
	Took  Seconds `json:"took_s,omitempty"`
	// File is where a trace is, on the launcher's host.
	File string `json:"file,omitempty"`
	// View and Members are those of a view.
	View    uint64 `json:"view,omitempty"`
	Members int    `json:"members,omitempty"`
	// Set are the slots that have changed since the event before.
	Set []Change `json:"set,omitempty"`
}

// Change is what a slot is from now on.
type Change struct {
	Process     int    `json:"process"`
	State       string `json:"state"`
	Host        int    `json:"host"`
	Incarnation int    `json:"incarnation,omitempty"`
}
