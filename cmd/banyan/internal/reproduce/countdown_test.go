package reproduce

import (
	"strings"
	"testing"
	"time"
)

// TestCountdown: the rest is what the plan says, less what is done or kept, at the pace of what
// this run itself has done.
func TestCountdown(t *testing.T) {
	c := newCountdown([]plannedStep{{"a", 10 * time.Minute}, {"b", 20 * time.Minute}, {"c", 30 * time.Minute}})
	check := func(what string, after, want time.Duration) {
		t.Helper()
		if got := c.left(c.began.Add(after)); got < want-time.Second || got > want+time.Second {
			t.Errorf("%s: %v are left, want %v", what, got, want)
		}
	}
	check("in the beginning", 0, time.Hour)
	c.set("a", 10, 10) // an earlier run did it
	check("a kept", 2*time.Second, 50*time.Minute)
	c.set("b", 1, 4) // and a quarter of this
	check("a quarter of b kept", 5*time.Second, 45*time.Minute)
	c.set("b", 3, 4) // 10 of the plan's minutes in 20
	check("b half as fast", 20*time.Minute, 70*time.Minute)
	c.set("nobody planned it", 1, 2)
	check("another step", 20*time.Minute, 70*time.Minute)
	c.set("c", 0, 0)
	c.set("c", 30, 30)
	check("the end", 40*time.Minute, 0)
}

// TestProgressLines: where stderr is a file, a line says now and then what is left.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	p := newDisplay(&out, []plannedStep{{"a", time.Hour}})
	p.lines = true
	p.set("a", 1, 4)
	if out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.written = p.written.Add(-linesEvery)
	p.set("a", 2, 4)
	p.set("a", 3, 4)
	if got := out.String(); got != "banyan: a: 2 of 4 (all: 30 minutes left)\n" {
		t.Errorf("%q", got)
	}
}
