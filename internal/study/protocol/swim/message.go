package swim

import "banyan/internal/proto"

// State is what a member is thought to be. The greater of two wins within one
// incarnation.
type State uint8

// States.
const (
	Alive State = iota
	Suspect
	Dead
)

func (s State) String() string { return [...]string{"alive", "suspect", "dead"}[s] }

// Kind says what a message is.
type Kind uint8

// Kinds of messages.
const (
	// Ping asks its receiver, the target, for an acknowledgement.
	Ping Kind = iota
	// Ask wants its receiver to ping the target on behalf of the origin.
	Ask
	// Ack is the target's answer to the process that pinged; a mediator passes it on
	// to the origin.
	Ack
)

func (k Kind) String() string { return [...]string{"ping", "ask", "ack"}[k] }

// MaxRumours is how many items ride on one message at most: it stays below 100
// bytes.
const MaxRumours = 6

// Rumour is an opinion on its way.
type Rumour struct {
	Proc        proto.Proc
	Incarnation uint32
	State       State
}

// Message is what members send each other. It holds no references.
type Message struct {
	Kind           Kind
	Count          uint8 // of rumours
	Origin, Target proto.Proc
	Probe          uint32 // number of the origin's probe
	Rumours        [MaxRumours]Rumour
}

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions.
const (
	// SendMessage sends Message to To.
	SendMessage ActionKind = iota
	// Report tells of a changed opinion, Changed.
	Report
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	To      proto.Proc
	Message Message
	Changed Rumour
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action
