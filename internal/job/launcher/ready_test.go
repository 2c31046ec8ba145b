package launcher

import (
	"testing"
	"time"
)

// A snapshot that is due waits for the last process that isn't ready, and not for ever.
func TestReadiness(t *testing.T) {
	begin := time.Unix(0, 0)
	r := newReadiness(3)
	if r.ready(0) {
		t.Error("a snapshot that isn't due waited for process 0")
	}
	if w := r.wait(begin, time.Second); w != patience*time.Second {
		t.Errorf("it waits for %v", w)
	}
	for range 2 { // a process may say it twice
		if r.ready(2) {
			t.Error("process 1 isn't ready, and it was process 2 that the snapshot waited for")
		}
	}
	if w := r.wait(begin.Add(patience*time.Second-1), time.Second); w != 1 {
		t.Errorf("shortly before the end of its patience it waits for %v", w)
	}
	if w := r.wait(begin.Add(patience*time.Second), time.Second); w != 0 {
		t.Errorf("at the end of its patience it waits for %v", w)
	}
	if !r.ready(1) || r.ready(1) {
		t.Error("the last process is ready once")
	}
	if w := r.wait(begin, time.Second); w != 0 {
		t.Errorf("all are ready, and it waits for %v", w)
	}
	if w := new(readiness).wait(begin, time.Hour); w != 0 {
		t.Errorf("there is nobody to wait for, and it waits for %v", w)
	}
	r = newReadiness(1)
	if w := r.wait(begin, time.Hour); w != snapshotLimit {
		t.Errorf("with hours between snapshots it waits for %v", w)
	}
}
