package process

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// What a process knows of the failed members of a communicator is a list that only grows, in the
// order in which it learnt of them. The program acknowledges a first part of the list. As long as
// it has not acknowledged all, a receive from any source might wait for a failed member, so it
// tells the program: a call that waits ends with an error, and the receive is withdrawn; a receive
// in the background shows a PendingError and goes on (ULFM).
//
// Both contexts of a communicator have the list; only that of point-to-point messages has
// acknowledgements.

// ErrPending is wrapped by each PendingError.
var ErrPending = errors.New("a receive from any source may wait for a failed rank")

// PendingError is shown by a receive from any source that hasn't ended, while the failure of a
// member isn't acknowledged.
type PendingError struct {
	Rank proto.Rank // in the world
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("%v died, and the program hasn't acknowledged it: the receive from any source goes on", e.Rank)
}

// Unwrap makes errors.Is true for ErrPending and ErrRankLost.
func (e *PendingError) Unwrap() []error { return []error{ErrPending, ErrRankLost} }

// Failed are the failed members of a context that this process knows of, in the order in which it
// learnt of them. The caller must not change the list.
func (p *Process) Failed(context uint64) []proto.Rank {
	if c := p.contexts.find(context); c != nil {
		return c.failed
	}
	return nil
}

// NoteFailed adds a failed member to a context's list, unless it is there. It is for what the
// program learns by an error whose cause this process hasn't detected itself.
func (p *Process) NoteFailed(context uint64, rank proto.Rank) {
	if c := p.contexts.find(context); c != nil && c.noteFailed(rank) {
		p.warnReceives(c)
	}
}

// noteFailed returns false if the member was known to have failed, or is none.
func (c *context) noteFailed(rank proto.Rank) bool {
	if slices.Contains(c.failed, rank) || c.index(rank) < 0 {
		return false
	}
	c.failed = append(c.failed, rank)
	return true
}

// AckFailed acknowledges the first n failed members of a context's list, and returns how many are
// acknowledged. What has been acknowledged stays so.
func (p *Process) AckFailed(context uint64, n int) int {
	c := p.contexts.find(context)
	if c == nil {
		return 0
	}
	c.acked = max(c.acked, min(n, len(c.failed)))
	p.requests.each(func(_ Handle, r *request) {
		if r.pending && r.context == context && p.unacknowledged(c) == proto.AnyRank {
			r.resume()
		}
	})
	return c.acked
}

// unacknowledged is the failed member for which receives from any source may wait, or AnyRank. If
// all other members have failed it is one of those, whether acknowledged or not.
func (p *Process) unacknowledged(c *context) proto.Rank {
	if c.sources != nil {
		return c.unacknowledgedSource()
	}
	switch n := len(c.failed); {
	case n > c.acked:
		return c.failed[c.acked]
	case n > 0 && n == len(c.members)-1 && !slices.Contains(c.failed, p.rank):
		return c.failed[n-1]
	}
	return proto.AnyRank
}

// unacknowledgedSource is the same for a context in which some members only send to this rank.
func (c *context) unacknowledgedSource() proto.Rank {
	last, n := proto.AnyRank, 0
	for i, r := range c.failed {
		if !slices.Contains(c.sources, r) {
			continue
		}
		if i >= c.acked {
			return r
		}
		last, n = r, n+1
	}
	if n == len(c.sources) {
		return last
	}
	return proto.AnyRank
}

// warnReceives has the receives from any source that are posted in a context show that a member
// has failed.
func (p *Process) warnReceives(c *context) {
	if c.collective {
		return
	}
	p.requests.each(func(_ Handle, r *request) {
		if !r.done && r.kind == receiving && r.context == c.id && r.peer == proto.AnyRank && p.mayWarn(r) {
			p.warn(c, r)
		}
	})
}

// mayWarn tells whether a receive from any source goes on although a member has failed: nothing
// else is wrong with its communicator, and no message has matched it.
func (p *Process) mayWarn(r *request) bool {
	c := p.contexts.find(r.context)
	return c != nil && !c.collective && r.arrival == (Handle{}) && p.contextError(r.context) == nil && p.healing.replay == nil
}

// resume ends the show of a PendingError, since a message has come.
func (r *request) resume() {
	if r.pending {
		r.done, r.pending, r.err = false, false, nil
	}
}

// warn has a receive from any source show a PendingError, if a failure is to be acknowledged.
func (p *Process) warn(c *context, r *request) {
	if rank := p.unacknowledged(c); rank != proto.AnyRank {
		r.done, r.pending, r.err = true, true, &PendingError{rank}
		p.Changes++
	}
}

// WithdrawPending ends a receive that shows a PendingError, for a call that waits for it and
// nothing else. It returns the error of that call.
func (p *Process) WithdrawPending(h Handle, pending *PendingError) error {
	if p.Cancel(h) {
		p.Take(h)
	}
	return p.loss(pending.Rank)
}
