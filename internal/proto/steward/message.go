package steward

import "banyan/internal/proto"

// Kind says what a message is.
type Kind uint8

// Kinds of messages.
const (
	Renew   Kind = iota // agent to voter: may my lease be renewed? question Number
	Grant               // voter to agent: yes, as far as I am concerned
	Decline             // voter to agent: no, you don't know the electorate
	Prepare             // candidate to voter: will you promise to listen to no term before Term?
	Promise             // voter to candidate: I do, and have accepted At
	Refuse              // voter to candidate or steward: I have promised a later term
	Write               // steward to voter: version At of the ledger
	Wrote               // voter to steward: I have written At
	Start               // steward to agent: start Place
	Report              // agent to steward: the state of Place
	Noted               // steward to agent: that is in the ledger
	Join                // agent to steward: I am here in this incarnation, and hold a lease
	Welcome             // steward to agent: Incarnation is in the ledger, or may join
)

func (k Kind) String() string {
	return [...]string{"renew", "grant", "decline", "prepare", "promise", "refuse", "write", "wrote", "start", "report", "noted",
		"join", "welcome"}[k]
}

// Message is what parties send each other. Which fields a kind has is told beside them. Those that
// receive a message don't change what it points to.
type Message struct {
	Kind Kind
	From Host
	// Number is that of a question: Renew, and its answers.
	Number uint64
	// Incarnation of the agent that sends Renew, Report and Join, or is sent Start and Welcome.
	Incarnation proto.Incarnation
	// Term is the candidate's, or the steward's; of Renew: the term in which the sender is the
	// acting steward, or 0; of Refuse: the promised one.
	Term uint64
	// At is what the sender has accepted, or, of Write, what it writes; Steward, ID and Electorate
	// are those of At, but for ID of Renew: since when the electorate is that the sender knows. The
	// answers to Renew have no Electorate if the agent that asked knows At.
	At         Version
	Steward    Host
	ID         Version
	Electorate *Electorate
	Ledger     *Ledger // Write to and Promise of voters that keep one

	Holds bool   // Renew: the sender's driver holds what others may need
	About []Host // Renew: how long have you granted these nothing?
	// Withheld, of Grant, says that the voter grants no lease: the steward can't hear the agent.
	Withheld bool
	// Ages answers About: times by the voter's clock.
	Ages []proto.Time
	// StewardAge is how long ago, by the voter's clock, the steward of At said that it acts.
	StewardAge proto.Time
	Outcome    Outcome // of the answers to Renew

	Place  Place // Start, Report, Noted
	Domain int32 // Join: of the host
}

// ActionKind says what an Action is.
type ActionKind uint8

// Kinds of actions.
const (
	Send   ActionKind = iota // Message to To
	Extend                   // the processes may act until Until, by this agent's clock
	Kill                     // all processes of this agent, before anything else
	Spawn                    // start the process of Place
	// this agent is the acting steward now: Ledger is what it goes on with
	Lead
	StepDown // it isn't any more
	// told to the steward: Host is lost in Incarnation, as the ledger says
	HostLost
	// told to the steward: Host is there in Incarnation, as the ledger says
	HostUp
	// told to the steward: Host has left, as the ledger says: nobody needs it any more
	HostLeft
	// told to the steward: the state with this Number is durable
	Kept
	// this agent is over, because of Outcome. It goes on answering until its driver ends it
	Over
)

// Action is something that a machine wants done.
type Action struct {
	Kind        ActionKind
	To          Host
	Message     *Message
	Until       proto.Time
	Place       Place
	Host        Host
	Incarnation proto.Incarnation
	Ledger      *Ledger
	Outcome     Outcome
	Number      uint64 // Kept
}
