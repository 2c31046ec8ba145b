package engine

// Call is a call of the program that the other replicas of its rank must make as well: a send, or
// a rank's part in a collective. The messages inside a collective are no Calls.
type Call struct {
	Op         string // "Send", "Isend", "Allreduce"…
	Collective bool
	Context    uint64 // of the communicator
	Peer       int    // by rank in the communicator: the destination, or the root, or NoPeer
	Tag        int32  // of a send
	// Parts is what this rank gives: a message, or its contribution to a collective, which may be
	// several blocks. The memory is the program's.
	Parts [][]byte
	// Takes is how many bytes this rank receives in a collective whose root is another rank.
	Takes int
}

// NoPeer is the Peer of a collective without a root.
const NoPeer = -1

// Receipt is a receive whose outcome the program has learnt.
type Receipt struct {
	Context uint64
	// Source is a rank of the communicator.
	Source, Tag int
	// AnySource and AnyTag say that another message could have matched.
	AnySource, AnyTag bool
}

// Calls hears what the program calls, before it happens, on the program's threads. Several threads
// may call it at once.
type Calls interface {
	Calls(c *Call)
	Receives(r *Receipt)
}
