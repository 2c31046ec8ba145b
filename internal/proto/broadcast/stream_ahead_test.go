package broadcast

import "testing"

// TestAhead: a member knows that others have begun a broadcast that it hasn't.
func TestAhead(t *testing.T) {
	root, other := NewStream(StreamConfig{Self: 0, Size: 2}), NewStream(StreamConfig{Self: 1, Size: 2})
	var out StreamActions
	if !root.MayStart() {
		t.Fatal("no room")
	}
	root.Start(0, 0, []byte("payload"), &out)
	for root.SendReady(0, &out) {
	}
	if root.Ahead() || other.Ahead() {
		t.Error("a member is ahead before anything has come")
	}
	sent := 0
	for _, a := range out {
		if a.To == 1 {
			other.Receive(0, 0, a.Frame, new(StreamActions))
			sent++
		}
	}
	if sent == 0 || !other.Ahead() {
		t.Errorf("%d frames have come, and the member isn't behind", sent)
	}
	other.Start(0, 0, nil, new(StreamActions))
	if other.Ahead() {
		t.Error("it has started the broadcast, and is behind all the same")
	}
}
