package membership

import (
	"cmp"
	"fmt"
)

// Kind is the kind of a message.
type Kind uint8

const (
	// Collect: what have you accepted for the view after Base? Down the tree.
	Collect Kind = iota + 1
	// Report answers it for a subtree: View, accepted under Accepted, or none.
	Report
	// Propose: let View follow Base. Down the tree.
	Propose
	// Ack: a subtree has accepted.
	Ack
	// Commit: View is the next one. Down the tree of View.
	Commit
	// Current: View is in force. To a process that lags behind.
	Current
	// Reject: a higher ballot, Accepted, is promised. To the coordinator.
	Reject
	// Ask: which of those in Skip are gone for certain? Down the tree.
	Ask
	// Certain: these have gone for certain, Gone. To the coordinator.
	Certain
	// Halt: too few are left to go on. Down the tree.
	Halt
	// Join: let From in.
	Join
	// Redirect: ask Member to let you in.
	Redirect
	// Refuse: this incarnation can't be let in.
	Refuse
	// Leave: let From go.
	Leave
	// Eviction notice: you are out, by a view that the sender has installed.
	Eviction
	// Lease: promise not to go on without me from view Number.
	Lease
	// Grant: promised.
	Grant
	// Claim: take no view without me. To a process that may be about to join.
	Claim
	// Pledge: it won't, and is in none.
	Pledge
	// Update: From says Metadata of itself.
	Update
)

var kinds = [...]string{Collect: "collect", Report: "report", Propose: "propose", Ack: "ack", Commit: "commit", Current: "current",
	Reject: "reject", Ask: "ask", Certain: "certain", Halt: "halt", Join: "join", Redirect: "redirect",
	Refuse: "refuse", Leave: "leave", Eviction: "eviction notice", Lease: "lease", Grant: "grant", Claim: "claim", Pledge: "pledge", Update: "update"}

func (k Kind) String() string {
	if int(k) < len(kinds) && kinds[k] != "" {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Ballot orders the proposals for one view. Position is of the coordinator in
// the view before.
type Ballot struct{ Takeover, Position, Attempt uint32 }

// Less says whether a ballot gives way to another.
func (b Ballot) Less(other Ballot) bool {
	return cmp.Or(cmp.Compare(b.Takeover, other.Takeover), cmp.Compare(b.Position, other.Position),
		cmp.Compare(b.Attempt, other.Attempt)) < 0
}

func (b Ballot) String() string { return fmt.Sprintf("%d/%d/%d", b.Takeover, b.Position, b.Attempt) }

// Message is from a process to another. It isn't changed once sent, nor are the
// slices in it: a process that forwards one sends the same.
type Message struct {
	Kind Kind
	From Member
	// Number is that of the view to be decided on, or decided (Commit).
	Number   uint64
	Ballot   Ballot      // Lease, Grant: the request's number, as Attempt
	Base     *View       // Collect, Propose, Ask, Halt: the view before
	Skip     []Departure // the members of Base, or of View (Commit), that aren't in the tree
	View     *View       // Propose, Commit, Report
	Accepted Ballot      // Report, Reject
	Gone     []Departure // Report, Ack, Certain: for certain
	Member   Member      // Redirect
	Metadata Metadata    // Join, Update: the sender's; of Join the version may be 0: none
}

// ActionKind says what the driver is to do.
type ActionKind uint8

const (
	// Send Message to To, in that incarnation only.
	Send ActionKind = iota
	// Install: View is in force from now on.
	Install
	// Excluded: the others go on without this process, which must stop. It may
	// join again under a higher incarnation.
	Excluded
	// Released: this process asked to leave, and may.
	Released
	// Stalled: no view can be agreed on, since too many are Silent, in Gone.
	Stalled
	// Halted: that has lasted for Patience; this process must stop.
	Halted
	// Refused: this process can't join, its incarnation being over.
	Refused
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	To      Member
	Message *Message
	View    *View
	Gone    []Departure
	// Stable says of Install that this process is the coordinator and that all
	// have acknowledged: the paper's end of stabilisation.
	Stable bool
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// mostTakeovers is more than there can be for one view, and leaves room to count on.
const mostTakeovers = 1 << 31

// Validate says what is wrong with a message that has come from outside. What
// only its receiver can tell, the machine refuses.
func (x *Message) Validate() error {
	if x.Kind == 0 || int(x.Kind) >= len(kinds) {
		return fmt.Errorf("a membership message of unknown kind %d", uint8(x.Kind))
	}
	if x.From.Proc < 0 {
		return fmt.Errorf("a %v from process %d", x.Kind, x.From.Proc)
	}
	for _, list := range [][]Departure{x.Skip, x.Gone} {
		for _, d := range list {
			if d.Why > Left {
				return fmt.Errorf("a %v with an unknown why of %v: %d", x.Kind, d.Member, uint8(d.Why))
			}
		}
	}
	for _, b := range []Ballot{x.Ballot, x.Accepted} {
		if b.Takeover > mostTakeovers {
			return fmt.Errorf("a %v of ballot %v: that many takeovers haven't been", x.Kind, b)
		}
	}
	switch x.Kind {
	case Join, Update:
		if d := &x.Metadata; d.Version > 0 || x.Kind == Update {
			if err := d.check(); err != nil || d.Member != x.From {
				return fmt.Errorf("a %v from %v with metadata of %v: %w", x.Kind, x.From, d.Member, err)
			}
		}
	case Redirect:
		if x.Member.Proc < 0 {
			return fmt.Errorf("a redirect to process %d", x.Member.Proc)
		}
	case Collect, Propose, Ask, Halt:
		switch {
		case x.Base == nil:
			return fmt.Errorf("a %v with no view before", x.Kind)
		case x.Number != x.Base.Number+1 || x.Number == 0:
			return fmt.Errorf("a %v of number %d after view %d", x.Kind, x.Number, x.Base.Number)
		case int(x.Ballot.Position) >= len(x.Base.Members):
			return fmt.Errorf("a %v of a coordinator at position %d of %d", x.Kind, x.Ballot.Position, len(x.Base.Members))
		}
	}
	switch x.Kind {
	case Propose, Commit, Current:
		switch {
		case x.View == nil:
			return fmt.Errorf("a %v with no view", x.Kind)
		case x.Kind == Propose && x.View.Number != x.Number:
			return fmt.Errorf("a propose of view after view %d: %d", x.Base.Number, x.View.Number)
		case x.View.Number != x.Number:
			return fmt.Errorf("a %v of number %d with view %d", x.Kind, x.Number, x.View.Number)
		}
		if x.Kind == Propose {
			return x.View.follows(x.Base)
		}
	case Report:
		if x.View != nil && x.View.Number != x.Number {
			return fmt.Errorf("a report of number %d with view %d", x.Number, x.View.Number)
		}
	}
	return nil
}
