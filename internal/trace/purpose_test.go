package trace

import "testing"

func TestPurposeOf(t *testing.T) {
	for kind, want := range map[string]string{
		"tree": "dissemination", "gossip": "dissemination", "gossip+12": "dissemination", "left": "correction",
		"right+3": "correction", "ack": "acknowledgement", "": "other", "heartbeat": "other",
	} {
		if got := PurposeOf(kind).String(); got != want {
			t.Errorf("%q is for %s, want %s", kind, got, want)
		}
	}
}
