package agreement

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions.
const (
	// Send sends Message to the member To. Its sets may be kept; its payload stays the machine's,
	// and is valid until the next call.
	Send ActionKind = iota
	// Decide ends the agreement Message.Number here, with Message.Value. Decisions come in the
	// order of their numbers, each once. All of Value.Failed count as dead here from now on.
	Decide
	// Excluded comes in place of Decide at a member that the decision counts among the dead: it
	// must not return from the call, since the others go on without it.
	Excluded
	// Forget is the last action of all: the machine may be dropped, and what else is kept of the
	// communicator.
	Forget
)

// Action is one thing to do.
type Action struct {
	Kind    ActionKind
	To      int // of Send
	Message Message
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action
