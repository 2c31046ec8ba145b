package check

import (
	"strings"
	"testing"

	"banyan/internal/job/env"
)

// A recorder records the data of the site that it looks at, and no other, and the comparison says
// which bytes differ.
func TestLook(t *testing.T) {
	t.Setenv(env.Look, "Send@")
	a, b, j := pair(t)
	for _, r := range []*Recorder{a, b} {
		r.looking = lookingFromEnv()
		r.locate = func() string { return "" }
		r.frames = map[uintptr]frame{}
	}
	a.Calls(gather("what", "ever"))
	b.Calls(gather("what", "else"))
	for range 3 {
		a.looking.at.Where, b.looking.at.Where = here(a), here(b)
		a.Calls(send(1, 2, "0123456789abcdef"))
		b.Calls(send(1, 2, "01x345yy89abzdef"))
	}
	a.End()
	b.End()
	s := compared(t, j)
	if s.Payloads.Calls() != 4 || len(s.Raw) != 2 || len(s.Seen) != 1 {
		t.Fatalf("%+v", s)
	}
	for at, text := range s.Seen {
		if at.Op != "Send" || text != "of a call's 16 bytes (from 0) these differ: 2, 6-7, 12" {
			t.Errorf("%v: %s", at, text)
		}
	}
}

// here is the place that a recorder finds for the calls of this test.
func here(r *Recorder) string {
	e := Event{}
	func() { r.name(&e) }()
	return e.Where
}

// Padding excuses differences only if all of them lie in it, and in calls of whole structs.
func TestPadding(t *testing.T) {
	particle := layout{"particle", 8, []bool{true, false, false, false, true, true, true, true}}
	for _, c := range []struct {
		calls   []spots
		excused bool
	}{
		{[]spots{{16, []int{1, 2, 3, 9, 11}}, {8, []int{3}}}, true},
		{[]spots{{16, []int{1, 8}}}, false},
		{[]spots{{16, []int{1}}, {8, []int{4}}}, false},
		{[]spots{{12, []int{1}}}, false},
		{[]spots{{0, nil}}, false},
	} {
		if particle.excuses(c.calls) != c.excused {
			t.Errorf("%+v: want %t", c.calls, c.excused)
		}
	}
	text := describeSpots([]spots{{16, []int{1, 2, 3, 9}}}, []layout{particle})
	if !strings.HasSuffix(text, "these differ: 1-3, 9: all of it is padding of struct particle (8 bytes), which holds what was in memory before: no data of the program's") {
		t.Error(text)
	}
}
