package retry

import (
	"errors"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

const stateLimit = 50_000_000

// Every death at every step of collectives that survive, in every order of messages.
func TestExhaustive(t *testing.T) {
	worlds := []rules{
		{members: 2, rounds: 3, deaths: 1},
		{members: 3, rounds: 2, deaths: 1},
		{members: 3, rounds: 2, deaths: 2},
		{members: 3, rounds: 1, deaths: 2, timid: true},
	}
	if explore.Long() {
		worlds = append(worlds, rules{members: 3, rounds: 3, deaths: 2, timid: true},
			rules{members: 4, rounds: 1, deaths: 2}, rules{members: 4, rounds: 1, deaths: 1, timid: true})
	}
	for _, r := range worlds {
		stats, err := explore.All(r.world(), stateLimit)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		t.Logf("%+v: %+v", r, stats)
	}
}

// The same in larger communicators, at random.
func TestRandom(t *testing.T) {
	seeds := uint64(1000)
	if explore.Long() {
		seeds = 50_000
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		r := rules{members: 3 + int(seed%2), rounds: 1 + int(seed%4), deaths: 1 + int(seed/4%3), timid: seed%3 == 0}
		r.deaths = min(r.deaths, r.members-1)
		if err := explore.Random(r.world(), seed, 10_000); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
	}
}

// Known bugs of drivers must be found.
func TestCanaries(t *testing.T) {
	for b := selfish; b <= byNumber; b++ {
		found := error(nil)
		for _, r := range []rules{
			{members: 3, rounds: 1, deaths: 1, bug: b},
			{members: 3, rounds: 1, deaths: 1, timid: true, bug: b},
			{members: 4, rounds: 1, deaths: 2, bug: b},
		} {
			for seed := uint64(1); seed <= 3000 && found == nil; seed++ {
				found = explore.Random(r.world(), seed, 10_000)
			}
		}
		if found == nil {
			_, found = explore.All((&rules{members: 4, rounds: 1, deaths: 2, bug: b}).world(), 20_000)
		}
		if found == nil || errors.Is(found, explore.ErrLimit) {
			t.Errorf("bug %d isn't found", b)
		}
		t.Logf("bug %d: %.200v", b, found)
	}
}

// A failure without a death ends the collective at all members, and the next one has another
// context.
func TestBroken(t *testing.T) {
	m := New([]proto.Rank{4, 7, 9})
	v := m.Agreed(&Outcome{Number: 3, Flags: Done.Flags() & Failed.Flags() & Lost.Flags()})
	if !v.Broken || v.Again || m.Since() != 3 || len(m.Present()) != 3 {
		t.Errorf("%+v, since %d, present %v", v, m.Since(), m.Present())
	}
	// So does a loss that nobody can name: tries would have no end.
	if v = m.Agreed(&Outcome{Number: 4, Flags: Lost.Flags()}); !v.Broken || v.Again || m.Since() != 4 {
		t.Errorf("%+v, since %d", v, m.Since())
	}
	v = m.Agreed(&Outcome{Number: 5, Flags: Lost.Flags(), Failed: []proto.Rank{7}})
	if !v.Again || v.Broken || m.Since() != 5 || len(m.Present()) != 2 {
		t.Errorf("%+v, since %d, present %v", v, m.Since(), m.Present())
	}
	v = m.Agreed(&Outcome{Number: 6, Flags: Done.Flags(), Failed: []proto.Rank{7}, Acknowledged: []proto.Rank{9}})
	if v.Again || v.Broken || len(v.Missing) != 1 || v.Missing[0] != 7 || v.Unacknowledged != 7 || m.Since() != 5 {
		t.Errorf("%+v, since %d", v, m.Since())
	}
}
