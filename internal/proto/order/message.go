package order

// Kind says what a Message says.
type Kind uint8

// Kinds of messages.
const (
	// Decided, from the leader: Records are decisions, the first of which has the number
	// First.
	Decided Kind = iota + 1
	// Known: the sender knows all decisions below First.
	Known
	// Claim, from a substitute: the leader before it is dead, and it knows all decisions
	// below First. It wants to know those that it lacks.
	Claim
	// Tail answers a Claim, as Decided would, with all that the substitute lacks. Without
	// Records the sender knows all decisions below First, and no others.
	Tail
)

func (k Kind) String() string {
	switch k {
	case Decided:
		return "decided"
	case Known:
		return "known"
	case Claim:
		return "claim"
	case Tail:
		return "tail"
	}
	return "nothing"
}

// Message is what replicas of a rank tell each other.
type Message struct {
	Kind    Kind
	First   uint64
	Records [][]byte // Decided, Tail; the machine keeps them
}

// Action asks the driver to send a Message to another replica of the rank.
type Action struct {
	To int
	Message
}

// Actions is a caller-owned output to which the machine appends.
type Actions []Action
