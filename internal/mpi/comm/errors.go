package comm

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Causes of errors. Errors of the packages below are passed on: see process.ErrRankLost,
// ErrTruncated and others.
var (
	ErrRank     = errors.New("there is no such rank in the communicator")
	ErrTag      = errors.New("a tag must not be negative")
	ErrSize     = errors.New("buffer sizes don't fit together")
	ErrMismatch = errors.New("the ranks disagree about the size of the data")
	ErrTopology = errors.New("the communicator has no such topology")
	ErrLeader   = errors.New("the leader of the group hasn't met the leader of the other group")
	ErrOverlap  = errors.New("a rank is in both groups")
	ErrHigh     = errors.New("the ranks of a group disagree about which group comes second")
	ErrPending  = process.ErrPending // a receive that goes on: see process.PendingError
	ErrWorld    = errors.New("the world communicator can't be freed")
)

// NoPeer is the Peer of an Error that concerns no particular rank.
const NoPeer = -2

// Error says which operation of which rank failed, with which other rank, and why.
type Error struct {
	Op   string // the operation: "Send", "Allreduce" …
	Rank int    // the caller, in the communicator
	Peer int    // the other rank, AnySource (-1) or NoPeer
	Tag  int    // of point-to-point operations
	Err  error  // the cause
}

func (e *Error) Error() string {
	s := fmt.Sprintf("rank %d: %s", e.Rank, e.Op)
	switch {
	case e.Peer >= 0:
		s += fmt.Sprintf(" (peer %d, tag %d)", e.Peer, e.Tag)
	case e.Peer == -1:
		s += fmt.Sprintf(" (any source, tag %d)", e.Tag)
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrap names a collective's failure; nil stays nil.
func (c *Comm) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, process.ErrTruncated) || errors.Is(err, process.ErrMismatch) {
		err = c.mismatch(err)
	}
	c.learn(err)
	return &Error{Op: op, Rank: c.rank, Peer: NoPeer, Err: c.eng.Located(err)}
}

// mismatch is the error of a collective whose ranks disagree about a size, with what this rank
// knows of it.
func (c *Comm) mismatch(err error) error {
	size, ok := c.sized(err).(*process.SizeError)
	if !ok {
		return ErrMismatch
	}
	size.Err = ErrMismatch
	return size
}

// sized turns the rank of a SizeError into one of this communicator. Other errors stay as they are.
func (c *Comm) sized(err error) error {
	size, ok := err.(*process.SizeError)
	if !ok {
		return err
	}
	here := *size
	here.Source = proto.Rank(c.local(size.Source))
	if i := c.parts; i != nil { // as its own group counts it
		here.Source = proto.Rank(max(i.near.local(size.Source), i.local(size.Source)))
	}
	return &here
}

// rankError names a rank that doesn't exist.
func rankError(rank, size int) error {
	return fmt.Errorf("rank %d of %d: %w", rank, size, ErrRank)
}

// sizeError says which sizes don't fit.
func sizeError(what string, have, want int) error {
	return fmt.Errorf("%s has %d bytes where %d are needed: %w", what, have, want, ErrSize)
}
