package thinning

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
)

var (
	// relay: rank 2 is told by rank 1 of what rank 0 has told that one.
	relay = [][]op{{to(1), to(1)}, {from(0), to(2), from(0), to(2)}, {from(1), from(1)}}
	// pass: what rank 0 says goes round.
	pass = [][]op{{to(1), from(2)}, {from(0), to(2)}, {from(1), to(0)}}
	// agrees: all agree, twice at most.
	agrees = [][]op{{to(1), agree}, {from(0), agree}, {agree}}
	twice  = [][]op{{agree, agree}, {agree, agree}}
	// short is relay once, pact twice once.
	short = [][]op{{to(1)}, {from(0), to(2)}, {from(1)}}
	pact  = [][]op{{agree}, {agree}}
	// stars agree by way of rank 0, which may be lost.
	stars = [][]op{{star(0), star(0)}, {star(0), star(0)}, {star(0), star(0)}}
	// chain: who owes may wait for one that owes nothing, and waits for a lost rank.
	chain = [][]op{{to(1)}, {from(0), to(2)}, {from(1), to(3)}, {from(2)}}
	// frozen: who owes may wait for one that owes nothing, and is in an agreement.
	frozen = [][]op{{agree, to(1), from(1)}, {agree, from(0), to(0)}, {agree}}
)

// TestExhaustive visits every state of small jobs.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup setup
		long  bool
	}{
		{"a rank of 2 is lost", setup{programs: short, degrees: []int{2, 2, 1}, deaths: 2, mortal: []int{0, 1}, content: true}, true},
		{"2 ranks of 2 agree", setup{programs: pact, degrees: []int{2, 2}, deaths: 2}, false},
		{"a relay of 2", setup{programs: short, degrees: []int{1, 2, 1}, deaths: 2}, false},
		{"a relay of 2, a receiver of 2", setup{programs: short, degrees: []int{1, 2, 2}, deaths: 1, content: true}, false},
		{"a ring", setup{programs: pass, degrees: []int{1, 2, 1}, deaths: 3}, true},
		{"2 ranks of 2 agree twice", setup{programs: twice, degrees: []int{2, 2}, deaths: 2}, true},
		{"a longer relay of 2", setup{programs: relay, degrees: []int{1, 2, 1}, deaths: 2}, true},
		{"a longer relay of 2, a receiver of 2", setup{programs: relay, degrees: []int{1, 2, 2}, deaths: 1, content: true}, true},
		{"an agreement of 3", setup{programs: agrees, degrees: []int{1, 2, 1}, deaths: 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !explore.Long() {
				t.Skip("too large: TestRandom walks through it")
			}
			stats, err := explore.All[*world, event](newWorld(&c.setup), 2_000_000)
			t.Logf("%+v", stats)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRandom walks through larger jobs.
func TestRandom(t *testing.T) {
	for i, s := range []setup{
		{programs: relay, degrees: []int{2, 2, 2}, deaths: 4},
		{programs: pass, degrees: []int{2, 3, 2}, deaths: 4},
		{programs: agrees, degrees: []int{2, 2, 2}, deaths: 4},
		{programs: twice, degrees: []int{3, 3}, deaths: 5},
		{programs: stars, degrees: []int{2, 2, 2}, deaths: 4},
		{programs: stars, degrees: []int{1, 2, 2}, deaths: 1, mortal: []int{0}, content: true},
		{programs: chain, degrees: []int{1, 2, 2, 1}, deaths: 3, mortal: []int{0, 1, 2}, late: true},
		{programs: frozen, degrees: []int{2, 2, 1}, deaths: 3, mortal: []int{2, 3, 4}, late: true},
		{programs: frozen, degrees: []int{2, 2, 1}, deaths: 1, mortal: []int{2}, content: true},
	} {
		walks := uint64(1000)
		if explore.Long() {
			walks = 100_000
		}
		for seed := uint64(1); seed <= walks; seed++ {
			if err := explore.Random[*world, event](newWorld(&s), seed, 5000); err != nil {
				t.Fatalf("job %d: %v", i, err)
			}
		}
	}
}

// TestCanaries has each known mistake caught.
func TestCanaries(t *testing.T) {
	two := setup{programs: relay, degrees: []int{1, 2, 1}, deaths: 2}
	tiny := setup{programs: short, degrees: []int{1, 2, 1}, deaths: 2}
	senders := setup{programs: [][]op{{to(2)}, {to(2)}, {from(0), to(3), from(1)}, {from(2)}}, degrees: []int{1, 1, 2, 1}, deaths: 2, mortal: []int{0, 1}}
	pacts := setup{programs: agrees, degrees: []int{1, 2, 1}, deaths: 2}
	far := setup{programs: chain, degrees: []int{1, 2, 2, 1}, deaths: 3, mortal: []int{0, 1, 2}, late: true}
	ends := setup{programs: frozen, degrees: []int{2, 2, 1}, deaths: 3, mortal: []int{2, 3, 4}, late: true}
	away := setup{programs: stars, degrees: []int{1, 2, 2}, deaths: 2, mortal: []int{0, 1}}
	calm := setup{programs: relay, degrees: []int{1, 2, 2}, deaths: 1, content: true}
	for _, c := range []struct {
		name  string
		setup setup
		bugs  bugs
		walks uint64
	}{
		{"a member that settles though it owes", two, bugs{showsInDebt: true}, 2000},
		{"a member that settles before it has heard all others", two, bugs{hearsNobody: true}, 2000},
		{"losses that show with Thin", two, bugs{showsAtOnce: true}, 2000},
		{"Thin before the dismissed are dead", senders, bugs{tellsTooSoon: true}, 2000},
		{"the first of each rank stays", calm, bugs{staysFirst: true}, 2000},
		{"messages of those that are known dead", tiny, bugs{rememberStale: true}, 2000},
		{"an agreement that ends after its member has settled", pacts, bugs{endsLate: true}, 2000},
		{"losses that show without results", pacts, bugs{dropsResults: true}, 2000},
		{"an agreement that has ended elsewhere is begun and made anew", away, bugs{asksAnew: true}, 25_000},
		{"who owes waits for one that waits for a lost rank", far, bugs{claimsNothing: true}, 25_000},
		{"who owes waits for one that is in an agreement", ends, bugs{claimsNothing: true}, 25_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.setup
			s.bugs = c.bugs
			v := (*explore.Violation)(nil)
			for seed := uint64(1); seed <= c.walks; seed++ { // that is quicker, mostly
				if errors.As(explore.Random[*world, event](newWorld(&s), seed, 5000), &v) {
					t.Log(seed, v.Err)
					return
				}
			}
			stats, err := explore.All[*world, event](newWorld(&s), 200_000)
			if !errors.As(err, &v) {
				t.Errorf("not caught in %d states: %v", stats.States, err)
			} else {
				t.Log(stats.States, v.Err)
			}
		})
	}
}
