package causal

import (
	"encoding/binary"
	"errors"
)

// ErrState is what Restore returns for bytes that are no state of such a clock.
var ErrState = errors.New("causal: not the state of a clock of this job")

// AppendState appends the clock for Restore, StampSize bytes.
func (c *Clock) AppendState(b []byte) []byte {
	for _, n := range c.past {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Restore sets the clock to that of another replica of its rank.
func (c *Clock) Restore(state []byte) error {
	if len(state) != c.StampSize() {
		return ErrState
	}
	for i := range c.past {
		c.past[i] = binary.LittleEndian.Uint32(state[4*i:])
	}
	return nil
}
