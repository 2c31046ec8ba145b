package order

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
)

// TestCanaries has each known mistake caught.
func TestCanaries(t *testing.T) {
	two := setup{programs: tests, degrees: []int{2, 1}, deaths: 1}
	three := setup{programs: once, degrees: []int{3, 1}, deaths: 2}
	suspects := setup{programs: once, degrees: []int{3, 1}, deaths: 2, suspects: true}
	heals := setup{programs: tests, degrees: []int{2, 1}, deaths: 2, heals: 1}
	lone := setup{programs: [][]op{{test, send(1)}, {}}, degrees: []int{3, 1}, deaths: 3, heals: 1}
	keep := func(s setup) setup {
		s.keeps = keepsAll
		return s
	}
	mistaken := setup{programs: once, degrees: []int{2, 1}, deaths: 1, suspects: true}
	heals3 := setup{programs: once, degrees: []int{3, 1}, deaths: 3, heals: 1}
	for _, c := range []struct {
		name  string
		setup setup
		bugs  bugs
	}{
		{"a leader that sends before its decision is safe", two, bugs{sendsAtOnce: true}},
		{"a substitute that decides anew", three, bugs{decidesAnew: true}},
		{"a substitute that forgets what it knows", two, bugs{forgetsTail: true}},
		{"a follower ahead of its log", two, bugs{runsAhead: true}},
		{"a follower of two leaders", suspects, bugs{hearsOldLeader: true}},
		{"a replacement without the tail of the log", heals, bugs{healsWithout: true}},
		{"a donor whose output waits", lone, bugs{donatesUnsent: true}},
		{"a donor that isn't paused", heals, bugs{runsAsDonor: true}},
		{"a replacement that nobody waits for while it joins", heals3, bugs{freeWhileJoin: true}},
		{"a substitute that doesn't ask the one that joins", heals3, bugs{leadsWhileJoin: true}},
		{"a leader that counts what others know of another one", suspects, bugs{anyTerm: true}},
		{"a leader that keeps nothing before it sends", keep(two), bugs{sendsAtOnce: true}},
		{"a substitute that doesn't look for what was kept", keep(two), bugs{ignoresKept: true}},
		{"a leader that keeps more when its substitute has looked", keep(mistaken), bugs{leavesOpen: true}},
		{"a follower that hears a claim before it looks", keep(suspects), bugs{obeysUnread: true}},
		{"a replacement that counts as one for which all is kept", keep(heals3), bugs{freeWhileJoin: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.setup
			s.bugs = c.bugs
			stats, err := explore.All[*world, event](newWorld(&s), 500_000)
			if v := (*explore.Violation)(nil); !errors.As(err, &v) {
				t.Errorf("not caught in %d states: %v", stats.States, err)
			} else {
				t.Log(stats.States, v)
			}
		})
	}
}

// TestDonorCanary is one more, which All comes to late: a donor that doesn't look for what the
// leader has kept before it gives its state away.
func TestDonorCanary(t *testing.T) {
	s := setup{programs: once, degrees: []int{3, 1}, deaths: 3, heals: 1, keeps: keepsAll}
	for range 2 {
		var caught error
		for seed := uint64(1); seed <= 3000 && caught == nil; seed++ {
			caught = explore.Random[*world, event](newWorld(&s), seed, 2_000)
		}
		if s.bugs.donatesUnread != (caught != nil) {
			t.Errorf("%+v: %v", s.bugs, caught)
		}
		t.Log(caught)
		s.bugs.donatesUnread = true
	}
}
