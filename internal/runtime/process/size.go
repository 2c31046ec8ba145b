package process

import (
	"fmt"

	"banyan/internal/proto"
)

// SizeError says that a message doesn't have the size that its receiver has room for
// (ErrTruncated), or that it expects (ErrMismatch).
type SizeError struct {
	Source   proto.Rank // the sender, or the root of the broadcast, in the world
	Tag      int32
	Has, Fit int   // bytes: of the message; those that there is room for, or that are expected
	Err      error // ErrTruncated, or an error that says that the two should agree
}

func (e *SizeError) Error() string {
	if e.Err == ErrTruncated {
		return fmt.Sprintf("the message from rank %d with tag %d has %s, the receive buffer %d", e.Source, e.Tag, inBytes(e.Has), e.Fit)
	}
	return fmt.Sprintf("%v: rank %d has sent %s where %d are expected", e.Err, e.Source, inBytes(e.Has), e.Fit)
}

// inBytes is a size in words.
func inBytes(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Unwrap makes errors.Is true for Err.
func (e *SizeError) Unwrap() error { return e.Err }

// truncated is the error of a receive of more than its buffer holds.
func truncated(s Status, buffer []byte) error {
	return &SizeError{s.Source, s.Tag, s.Bytes, len(buffer), ErrTruncated}
}
