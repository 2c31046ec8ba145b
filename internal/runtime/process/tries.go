package process

import (
	"errors"

	"banyan/internal/proto"
	"banyan/internal/proto/retry"
)

// Tries are a communicator's tries at collectives that survive: what the outcomes of their
// agreements mean (package retry).
type Tries struct{ *retry.Machine }

// NewTries are the tries of a communicator with these members.
func NewTries(members []proto.Rank) Tries { return Tries{retry.New(members)} }

// Flags are what a member brings to an AgreeRetry when its try has ended with an error, or nil.
func (Tries) Flags(failure error) uint32 {
	switch {
	case failure == nil:
		return retry.Done.Flags()
	case errors.Is(failure, ErrRankLost), errors.Is(failure, ErrRevoked), errors.Is(failure, ErrFinished):
		return retry.Lost.Flags()
	}
	return retry.Failed.Flags()
}

// Agreed takes the outcome of an AgreeRetry.
func (t Tries) Agreed(a *Agreement) retry.Verdict {
	return t.Machine.Agreed(&retry.Outcome{Number: a.Number, Flags: a.Flags, Failed: a.Failed, Acknowledged: a.Acknowledged})
}
