package causal

import (
	"bytes"
	"errors"
	"testing"
)

// TestRestore: a clock with another's state stamps and judges as that one does.
func TestRestore(t *testing.T) {
	a, sender := New(1, 3), New(2, 3)
	stamp := make([]byte, a.StampSize())
	for range 3 {
		sender.Stamp(stamp)
		a.Received(stamp)
		a.Stamp(stamp)
	}
	b := New(1, 3)
	if err := b.Restore(a.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	of := func(c *Clock) []byte {
		s := make([]byte, c.StampSize())
		c.Stamp(s)
		return s
	}
	if !bytes.Equal(of(a), of(b)) {
		t.Error("the stamps differ")
	}
	ahead := New(1, 3)
	for range 5 {
		of(ahead)
	}
	for _, s := range [][]byte{of(New(1, 3)), of(ahead)} {
		if a.Ready(s) != b.Ready(s) {
			t.Error("the clocks differ about what is ready")
		}
	}
	if err := New(1, 4).Restore(a.AppendState(nil)); !errors.Is(err, ErrState) {
		t.Errorf("the state of a job of another size: %v", err)
	}
}
