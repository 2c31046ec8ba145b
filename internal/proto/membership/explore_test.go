package membership

import (
	"testing"

	"banyan/internal/explore"
	"banyan/internal/proto"
)

// TestExhaustive visits every state of small groups: agreement, order and self
// inclusion in each, and one view for all who live in the end.
func TestExhaustive(t *testing.T) {
	later := func(p proto.Proc) Member { return Member{p, 1} }
	for _, x := range []struct {
		name string
		rules
		long bool
	}{
		{name: "two, one dies", rules: rules{members: 2, crashes: 1, why: Died}},
		{name: "three, two die", rules: rules{members: 3, crashes: 2, why: Died}},
		{name: "three, two go silent", rules: rules{members: 3, crashes: 2, why: Silent}},
		{name: "four, two die", rules: rules{members: 4, crashes: 2, why: Died}},
		{name: "four, three die, arity 4", rules: rules{members: 4, crashes: 3, why: Died, arity: 4}},
		{name: "five, one dies", rules: rules{members: 5, crashes: 1, why: Died}},
		{name: "five, two die", rules: rules{members: 5, crashes: 2, why: Died}, long: true},
		{name: "the coordinator leaves", rules: rules{members: 3, leavers: []int{0}, crashes: 1, why: Died}},
		{name: "two leave", rules: rules{members: 3, leavers: []int{0, 2}}},
		{name: "one joins, impatient", rules: rules{members: 2, joiners: []Member{{Proc: 2}}, crashes: 1, why: Died, early: 1}},
		{name: "two join", rules: rules{members: 2, joiners: []Member{{Proc: 2}, {Proc: 3}}}},
		{name: "three, one joins, one dies", rules: rules{members: 3, joiners: []Member{{Proc: 3}}, crashes: 1, why: Died}},
		{name: "one comes back", rules: rules{members: 3, joiners: []Member{later(1)}, crashes: 1, mayDie: []int{1}, why: Died}},
		{name: "the coordinator comes back", rules: rules{members: 3, joiners: []Member{later(0)}, crashes: 2, mayDie: []int{0, 1}, why: Died}},
		{name: "two cut apart", rules: rules{members: 2, cutoff: true, side: 1}},
		{name: "one cut off", rules: rules{members: 3, cutoff: true, side: 1}},
		{name: "one cut off, one dies", rules: rules{members: 3, cutoff: true, side: 4, crashes: 1, why: Died}},
		{name: "four cut in halves", rules: rules{members: 4, cutoff: true, side: 3}},
		{name: "four cut in halves, one dies", rules: rules{members: 4, cutoff: true, side: 5, crashes: 1, why: Died}, long: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.long && testing.Short() {
				t.Skip("takes some seconds")
			}
			stats, err := explore.All(newWorld(x.rules), 1_000_000)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d of them final", stats.States, stats.Ends)
		})
	}
}

// TestRandom plays groups of up to 10, with up to 3 deaths, joins and rejoins,
// departures and cuts.
func TestRandom(t *testing.T) {
	seeds := uint64(20_000)
	if testing.Short() {
		seeds = 4000
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		if err := explore.Random(newWorld(mixture(seed)), seed, 100_000); err != nil {
			t.Fatalf("%+v: %v", mixture(seed), err)
		}
	}
}

func mixture(seed uint64) rules {
	n := 2 + int(seed%9)
	r := rules{members: n, crashes: int(seed / 9 % 4), why: Died, arity: 2 << (seed % 2)}
	if seed%3 == 0 {
		r.joiners = append(r.joiners, Member{Proc: proto.Proc(n)}, Member{Proc: 0, Incarnation: 1})
		r.early = 2
	}
	if seed%5 == 0 {
		r.leavers = []int{int(seed) % n, int(seed/2) % n}
	}
	if seed%7 == 0 {
		// Nobody joins during a cut: see Limits.
		r.cutoff, r.side, r.joiners = true, uint32(seed*2654435761)>>20, nil
	}
	return r
}

// TestLenientQuorum: the dead can't simply be left out of the count. They may
// have agreed, before they died, to a view of the silent.
func TestLenientQuorum(t *testing.T) {
	lenient := func(v *View, gone []Departure) bool {
		silent, certain := 0, 0
		for _, d := range gone {
			if !v.Has(d.Member) {
				continue
			}
			if d.Why == Silent {
				silent++
			} else {
				certain++
			}
		}
		return 2*(len(v.Members)-silent-certain) > len(v.Members)-certain
	}
	r := rules{members: 5, cutoff: true, side: 0b00110, crashes: 2, mayDie: []int{3, 4}, why: Died}
	for seed := uint64(1); seed <= 20_000; seed++ {
		if err := explore.Random(newWorld(r), seed, 10_000); err != nil {
			t.Fatal(err)
		}
	}
	r.quorum = lenient
	mustFail(t, r)
}

// TestPresumption: a new coordinator that doesn't ask what has been accepted
// contradicts the one before.
func TestPresumption(t *testing.T) {
	mustFail(t, rules{members: 4, crashes: 2, why: Died, presumes: true})
}

func mustFail(t *testing.T, r rules) {
	t.Helper()
	for seed := uint64(1); seed <= 100_000; seed++ {
		if err := explore.Random(newWorld(r), seed, 10_000); err != nil {
			t.Log(err)
			return
		}
	}
	t.Error("a known bug wasn't found")
}
