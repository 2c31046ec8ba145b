package steward

import (
	"testing"

	"banyan/internal/proto"
)

// measure plays a death in a job of three hosts in which each message takes τ, and returns when
// another steward acted and when the loss was durable, from the death on. phase shifts the
// questions of the host that is next.
func measure(t *testing.T, dies Host, phase, τ proto.Time) (led, lost proto.Time) {
	w := newWorld(setting{hosts: 5, procs: 5}, 1)
	w.delay = [2]proto.Time{τ, τ}
	next := Host(1)
	if dies != 0 {
		next = 0
	}
	// A short stop moves the questions, and the steward's last one is just before its death.
	w.strike(fault{kind: stop, host: next, at: 3*sec - 1, until: 3*sec + phase})
	const at = 5*sec + 200
	w.strike(fault{kind: kill, host: dies, at: at})
	w.finish = proto.Never
	if err := w.run(at + 10*sec); err != nil {
		t.Fatal(err)
	}
	led, lost = -1, -1
	for term, t := range w.ledAt {
		if term > 1 {
			led = t - at
		}
	}
	if t, is := w.lostAt[dies]; is {
		lost = t - at
	}
	return led, lost
}

// TestBounds: the package comment's bounds hold, and are reached to within the steps of the phase.
func TestBounds(t *testing.T) {
	c := Defaults(sec)
	const step = 10_000
	for _, τ := range []proto.Time{1000, 40_000} {
		var led, lost proto.Time
		for phase := proto.Time(0); phase < c.Renew; phase += step {
			l, _ := measure(t, 0, phase, τ)
			if l < 0 {
				t.Fatalf("phase %d: no other steward acts", phase)
			}
			led = max(led, l)
			_, l = measure(t, 4, phase, τ)
			if l < 0 {
				t.Fatalf("phase %d: no verdict", phase)
			}
			lost = max(lost, l)
		}
		for _, x := range []struct {
			what        string
			took, bound proto.Time
		}{
			{"another steward", led, c.Patience + c.Renew + 8*τ},
			{"the verdict", lost, c.Lease + c.Margin + c.Renew + 6*τ},
		} {
			t.Logf("τ = %d ms: %s after %d µs at most, bound %d µs", τ/1000, x.what, x.took, x.bound)
			if x.took > x.bound || x.took < x.bound-3*step {
				t.Errorf("τ = %d ms: %s after %d µs, bound %d µs", τ/1000, x.what, x.took, x.bound)
			}
		}
	}
}
