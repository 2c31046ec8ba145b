package detection

import (
	"testing"
	"time"
)

// TestCountHeartbeats: a heartbeat is some thousands of instructions, however busy the machine is.
func TestCountHeartbeats(t *testing.T) {
	t.Parallel()
	h, err := CountHeartbeats(t.Context(), again(t), 700*time.Millisecond)
	if err != nil {
		t.Skip(err) // processes may not be traced here
	}
	t.Logf("%+v", h)
	if h.Periods < 1 || h.Instructions < 300 || h.Instructions > 100000 {
		t.Errorf("%+v", h)
	}
	nothingLeft(t)
}
