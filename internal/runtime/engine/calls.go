package engine

// Call is a call of the program that other replicas of its rank must make as well: a
// send, or a rank's part in a collective. The messages of which a collective is made
// are none.
type Call struct {
	Op         string // "Send", "Isend", "Allreduce"…
	Collective bool
	Context    uint64 // of the communicator
	Peer       int    // by rank in the communicator: the destination, or the root, or NoPeer
	Tag        int32  // of a send
	// Parts is what this rank gives: a message, or its contribution to a collective,
	// which may be several blocks. It is the program's memory.
	Parts [][]byte
	// Takes is how many bytes it receives in a collective that has a root which is
	// another rank.
	Takes int
}

// NoPeer is the Peer of a collective without a root.
const NoPeer = -1

// Receipt is a receive whose outcome the program learns.
type Receipt struct {
	Context uint64
	// Source is by rank in the communicator.
	Source, Tag int
	// AnySource and AnyTag say that it could have been another message.
	AnySource, AnyTag bool
}

// Calls hears what the program does, before it happens, on the program's threads.
// Several may call at once.
type Calls interface {
	Calls(c *Call)
	Receives(r *Receipt)
}
