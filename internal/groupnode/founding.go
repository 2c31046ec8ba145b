package groupnode

import (
	"context"
	"fmt"
	"time"
)

// Founding is one founding of a group. All members of the group, and of all its views, are of one
// founding. Another one begins with view 1 again.
type Founding struct {
	ID Nonce // chosen at random
	// Base is what a view's number is added to: the result is the view's fencing token. It is
	// higher than all tokens of earlier foundings.
	Base uint64
}

// Token is the fencing token of a view.
func (f Founding) Token(number uint64) uint64 { return f.Base + number }

// Epochs numbers the foundings of a group.
type Epochs interface {
	// Next is higher than all that it has returned before, to any process: from 1 to MaxEpoch.
	Next(ctx context.Context) (uint64, error)
}

// MaxEpoch is the highest epoch. An epoch is the upper half of a token, and
// views are numbered in the lower half.
const MaxEpoch = 1<<32 - 1

// epochZero is when the clock's epochs begin. So a token made of the time is positive as an int64,
// too, until 2088.
var epochZero = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// ClockEpoch is the epoch of a time: the seconds since 2020.
func ClockEpoch(at time.Time) uint64 {
	return uint64(min(max(int64(at.Sub(epochZero)/time.Second), 1), MaxEpoch))
}

// clockBase is the base of a founding at a time that has no Epochs. The fraction of the second
// stands in the lower half, in units of 2⁻³² s. As a view takes longer than that, no token is
// ahead of the clock of the founder, and a founding that comes later by the same clock has higher
// ones.
func clockBase(at time.Time) uint64 {
	fraction := at.Sub(epochZero) % time.Second
	return ClockEpoch(at)<<32 | uint64(max(fraction, 0))<<32/uint64(time.Second)
}

// newFounding makes a founding whose tokens are higher than those of earlier ones, and than floor.
func (c *Config) newFounding(ctx context.Context, floor uint64) (Founding, error) {
	f := Founding{ID: newNonce(), Base: max(clockBase(time.Now()), floor)}
	if c.Epochs == nil {
		return f, nil
	}
	epoch, err := c.Epochs.Next(ctx)
	if err != nil {
		return f, fmt.Errorf("the epoch of a new founding: %w", err)
	}
	if epoch == 0 || epoch > MaxEpoch {
		return f, wrong("Epochs", "epoch %d: want 1 to %d", epoch, uint64(MaxEpoch))
	}
	if f.Base = epoch << 32; f.Base < floor {
		return f, wrong("Epochs", "epoch %d: it has gone back, a process has seen token %d of epoch %d", epoch, floor, floor>>32)
	}
	return f, nil
}
