package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/causal"
)

// Status describes the message of a completed receive.
type Status struct {
	Source proto.Rank // world rank
	Tag    int32
	Type   uint32 // the number of its data's type, as the sender gave it; 0: none
	Bytes  int    // length of the message, which may exceed the buffer's on ErrTruncated
}

// Errors that end a request. ErrRankLost is wrapped in a LostError.
var (
	ErrRankLost  = errors.New("every replica of the rank is dead")
	ErrTruncated = errors.New("the message is larger than the receive buffer")
	ErrMismatch  = errors.New("the broadcast differs in size from what this rank expects")
	ErrFenced    = errors.New("the job takes this process for dead")
	ErrCancelled = errors.New("the operation was cancelled")
	ErrClosed    = errors.New("this process has left the job")
	ErrFreed     = errors.New("the communicator has been freed")
	ErrMessage   = errors.New("the matched message has been received already")
	ErrRevoked   = errors.New("the communicator has been revoked")
	ErrContext   = errors.New("two communicators have got the same context")
)

// DivergedError says that replicas of a rank haven't sent the same messages. Replication relies
// on that they do.
type DivergedError struct {
	Rank, To proto.Rank // in the world
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the replicas of %v have sent different numbers of messages to %v: replicas must send the same messages, in whatever order messages reach them (send-determinism)", e.Rank, e.To)
}

// LostError says that an operation can't complete because a rank is lost.
type LostError struct {
	Rank     proto.Rank // in the world
	Finished bool       // it isn't dead: its program has come to its end without this operation
}

func (e *LostError) Error() string {
	if e.Finished {
		return fmt.Sprintf("%v has finished, and takes part in nothing more", e.Rank)
	}
	return fmt.Sprintf("%v died: %v", e.Rank, ErrRankLost)
}

// Unwrap makes errors.Is(err, ErrRankLost) true.
func (e *LostError) Unwrap() error { return ErrRankLost }

type requestKind uint8

const (
	sending requestKind = iota
	receiving
	broadcasting
	composite
	retracting // waits for an answer about an eager message that was sent before (retract.go)
)

// request is one operation of the program.
type request struct {
	kind requestKind
	done bool
	// pending says that a receive from any source shows a PendingError: done is set, but the
	// receive goes on (failures.go).
	pending bool
	aged    bool // it waits for long (through.go)
	held    bool // receiving, in leader order: it isn't with matching yet (held.go)
	asked   bool // broadcasting: its root was asked
	// asksBack says that the receiver is asked for the message (retract.go).
	asksBack bool
	err      error
	status   Status

	buffer []byte // the program's: what to send, or where to receive

	peer    proto.Rank // sending, retracting: destination; receiving: source, or any; broadcasting: root's index
	context uint64     // of the operation
	tag     int32      // of a send or receive
	posted  uint32     // receiving: its token among the posted
	message Handle     // sending, rendezvous: the retained message
	arrival Handle     // receiving, rendezvous: what it is bound to
	stamp   []byte     // receiving, with replicas: the message's; its memory stays with the entry

	number   uint64 // broadcasting; sending: of an eager message, as SendNumbered got it; receiving, in leader order: until it is decided what it takes
	shape    Shape  // broadcasting
	coloured bool   // broadcasting: the data is here (or was here)

	fork *causal.Clock // composite, with replicas

	shown proto.Time // with perturbed timing: from then on the program may see its end
}

func (p *Process) newRequest(kind requestKind) (Handle, *request) {
	h, r := p.requests.take()
	*p.unended++
	*r = request{kind: kind, stamp: r.stamp[:0]}
	return h, r
}

// complete ends a request. The first end counts. A receive that shows a PendingError is resumed
// before.
func (p *Process) complete(h Handle, r *request, err error) {
	if r.done {
		return
	}
	r.done, r.err = true, err
	p.Changes++
	if p.perturb != nil {
		p.hide(r)
	}
}

// Done tells whether a request has ended. The zero Handle, or an old one, counts as ended.
func (p *Process) Done(h Handle) bool {
	r := p.requests.get(h)
	return r == nil || r.done && (p.perturb == nil || p.now >= r.shown)
}

// Take returns the outcome of a request that is Done and forgets it. A receive that shows a
// PendingError isn't forgotten.
func (p *Process) Take(h Handle) (Status, error) {
	r := p.requests.get(h)
	if r == nil {
		return Status{}, nil
	}
	s, err := r.status, r.err
	if err != nil && r.pending {
		return Status{}, err
	}
	if len(r.stamp) > 0 { // now the program knows of the message
		p.activeClock().Received(r.stamp)
	}
	if r.fork != nil {
		p.join(r.fork)
		r.fork = nil
	}
	r.buffer, r.err = nil, nil
	p.requests.put(h)
	*p.unended--
	return s, err
}

// Withdraw forgets a receive that no message has matched, as if it had never been posted; or one
// that has ended without an error, and then came is true. ok is false for any other. It stays.
func (p *Process) Withdraw(h Handle) (s Status, came, ok bool) {
	r := p.requests.get(h)
	switch {
	case r == nil || r.kind != receiving:
		return Status{}, false, false
	case r.done:
		if r.err != nil {
			return Status{}, false, false
		}
		s, _ = p.Take(h)
		return s, true, true
	case r.arrival != Handle{}:
		return Status{}, false, false
	}
	p.unpost(h, r)
	r.buffer = nil
	p.requests.put(h)
	*p.unended--
	return Status{}, false, true
}

// Cancel withdraws a receive that no message has matched.
func (p *Process) Cancel(h Handle) bool {
	r := p.requests.get(h)
	if r == nil || r.done && !r.pending || r.kind != receiving || r.arrival != (Handle{}) {
		return false
	}
	p.unpost(h, r)
	r.resume()
	p.complete(h, r, ErrCancelled)
	return true
}
