package replica

import "testing"

func TestAcksAreOwedUpToABound(t *testing.T) {
	var a AckPace
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
