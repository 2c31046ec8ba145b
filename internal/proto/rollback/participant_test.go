package rollback

import (
	"testing"

	"banyan/internal/proto"
)

// TestBeyondTheSafepoint: a replacement is told to hold before it knows how many safe points its
// donor has passed. It doesn't stand where the others do, and says so.
func TestBeyondTheSafepoint(t *testing.T) {
	p := NewParticipant(0, Beginning)
	sent := func() ([]proto.Proc, uint64) { return nil, 0 }
	var out []Deed
	p.Ordered(0, Order{Kind: Hold, Snapshot: 1}, sent, &out)
	p.SetPassed(5)
	p.Ordered(0, Order{Kind: Aim, Snapshot: 1, At: 5}, sent, &out)
	out = nil
	p.Safepoint(0, sent, &out)
	if len(out) != 1 || out[0].Report.Kind != Unable || !p.Waits() {
		t.Fatalf("at safe point %d: %+v", p.Passed(), out)
	}
	p.Ordered(0, Order{Kind: Resume, Snapshot: 1}, sent, &out)
	if p.Waits() || !p.Idle() {
		t.Error("it doesn't go on")
	}
}
