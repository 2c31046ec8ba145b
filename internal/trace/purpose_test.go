package trace

import "testing"

func TestPurposeOf(t *testing.T) {
	for kind, want := range map[string]string{
		"tree": "dissemination", "gossip": "dissemination", "gossip+12": "dissemination", "left": "correction",
		"right+3": "correction", "ack": "acknowledgement", "": "other", "heartbeat": "other",
		"correction-offer": "correction", "copy": "correction", "part": "collection", "torn": "collection", "rest": "collection",
		"mend": "dissemination", "eager": "message", "offer": "message", "pull": "message", "data": "message",
	} {
		if got := PurposeOf(kind).String(); got != want {
			t.Errorf("%q is for %s, want %s", kind, got, want)
		}
	}
}
