package replica

import "testing"

// As the paper has it, each message is acknowledged when it arrives.
func TestEachIsAcknowledged(t *testing.T) {
	a := NewAckPace(true)
	if a.Owe(0, 0, 7) || !a.Owe(1, 8, 7) {
		t.Errorf("nothing is acknowledged, or one arrival isn't: %+v", a)
	}
}

func TestAcksAreOwedUpToABound(t *testing.T) {
	a := NewAckPace(false)
	if a.Owe(1, 100, 7) || a.Due != 7+AcksOwedTime {
		t.Errorf("after one arrival: %+v", a)
	}
	if a.Owe(2, 100, 8) || a.Due != 7+AcksOwedTime {
		t.Errorf("the second puts off the first: %+v", a)
	}
	if !a.Owe(AcksOwedLimit, 0, 9) || !a.Owe(3, AcksOwedBytes, 9) {
		t.Error("many arrivals, or many bytes, wait")
	}
	if a.Flushed(); a.bytes != 0 || a.Due != 0 || a.Owe(0, 0, 10) || a.Due != 0 {
		t.Errorf("with nothing to acknowledge: %+v", a)
	}
}
