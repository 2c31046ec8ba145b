package membership

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// states bounds how many states of a group TestExhaustive visits.
var states = flag.Int("states", 400, "visit so many states of each group, 0 for all")

// TestExhaustive visits the states of all groups of 2 to 5 with up to three faults. It checks
// agreement, order and self inclusion in each state, and one view for all live processes in the
// end. Where only deaths occur it visits all states; for three deaths among five members it
// does so only in a long exploration. Of other groups it visits the first states, up to
// -states, and tries the rest at random; go test -run TestExhaustive -v -states 1000000 says
// which groups these are.
func TestExhaustive(t *testing.T) {
	limit := *states
	if limit == 0 {
		limit = math.MaxInt
	}
	all, total, partly := groups(3), 0, 0
	for i, r := range all {
		bound := limit
		if r.deathsOnly() && !testing.Short() && (r.crashes < 3 || r.arity == 2 && r.why == Died && (r.members < 5 || explore.Long())) {
			bound = math.MaxInt
		}
		stats, err := explore.All(newWorld(r), bound)
		total += stats.States
		switch {
		case stats.States == bound && !errors.As(err, new(*explore.Violation)):
			partly++
			if *states > 400 {
				t.Logf("%v: the first %d states", r, stats.States)
			}
			for seed := range uint64(10) {
				if err := explore.Random(newWorld(r), uint64(i)<<8+seed+1, 10_000); err != nil {
					t.Fatalf("%v: %v", r, err)
				}
			}
		case err != nil:
			t.Fatalf("%v: %v", r, err)
		case stats.States > 10_000:
			t.Logf("%v: all %d states, %d ends", r, stats.States, stats.Ends)
		}
	}
	t.Logf("%d states of %d groups, %d of them partly", total, len(all), partly)
}

// groups are the groups of 2 to 5 with up to so many faults: deaths, certain or merely silent;
// members that leave; processes that join, new or after an earlier incarnation; and a cut.
func groups(faults int) []rules {
	var all []rules
	for n := 2; n <= 5; n++ {
		for _, arity := range []int{2, 4} {
			if arity == 4 && n < 4 {
				continue // the trees are the same
			}
			for crashes := range min(faults, n-1) + 1 {
				all = append(all, rules{members: n, arity: arity, crashes: crashes, why: Died})
				all = append(all, rules{members: n, arity: arity, crashes: crashes, why: Silent})
			}
		}
		for crashes := range faults + 1 {
			for joiners := range faults - crashes + 1 {
				for leavers := range faults - crashes - joiners + 1 {
					if joiners+leavers == 0 || leavers > n {
						continue
					}
					r := rules{members: n, crashes: crashes, why: Died}
					for j := range joiners {
						r.joiners = append(r.joiners, Member{Proc: proto.Proc(n + j)})
					}
					for l := range leavers {
						r.leavers = append(r.leavers, []int{0, n - 1, 1}[l])
					}
					all = append(all, r)
					if joiners > 0 && crashes > 0 {
						// If the coordinator or its successor dies, it comes back.
						back := r
						back.joiners = append([]Member{{proto.Proc(min(joiners, n) - 1), 1}}, r.joiners[1:]...)
						all = append(all, back)
					}
				}
			}
		}
		for lies := 1; lies <= faults && n > 2; lies++ {
			for crashes := range faults - lies + 1 {
				all = append(all, rules{members: n, crashes: crashes, why: Died, lies: lies})
			}
		}
		// No process joins during a cut: see Limits. A side and its complement are the same
		// cut.
		for side := uint32(1); side < 1<<n-1; side++ {
			for crashes := range faults {
				for leavers := range faults - crashes {
					r := rules{members: n, crashes: crashes, why: Died, cutoff: true, side: side}
					r.leavers = []int{0, n - 1}[:leavers]
					oneWay, far := r, r
					oneWay.oneWay, far.far = true, true
					if side&1 == 1 {
						all = append(all, r)
						if crashes > 0 {
							all = append(all, far)
						}
					}
					all = append(all, oneWay)
				}
			}
		}
	}
	for i := range all {
		all[i].reduced = true
	}
	return all
}

// String describes a group's faults.
func (r rules) String() string {
	s := fmt.Sprintf("%d members, %d die (%v)", r.members, r.crashes, r.why)
	if r.arity > 2 {
		s += fmt.Sprintf(", arity %d", r.arity)
	}
	if len(r.joiners) > 0 {
		s += fmt.Sprintf(", join %v", r.joiners)
	}
	if len(r.leavers) > 0 {
		s += fmt.Sprintf(", leave %v", r.leavers)
	}
	if r.cutoff {
		s += fmt.Sprintf(", cut %0*b", r.members+len(r.joiners), r.side)
	}
	for _, x := range []struct {
		is   bool
		what string
	}{{r.oneWay, "one way"}, {r.heals, "heals"}, {r.far, "deaths beyond are uncertain"}, {r.announces, "announced"}} {
		if x.is {
			s += ", " + x.what
		}
	}
	if r.lies > 0 {
		s += fmt.Sprintf(", %d false suspicions", r.lies)
	}
	if r.changes > 0 {
		s += fmt.Sprintf(", %d changes of metadata", r.changes)
	}
	return s
}

// TestReduction: what rules.reduced leaves out shows nothing new. The ends are the
// same with it and without.
func TestReduction(t *testing.T) {
	for _, r := range []rules{
		{members: 3, crashes: 2, why: Died},
		{members: 3, crashes: 2, why: Silent},
		{members: 4, crashes: 2, why: Died},
		{members: 4, crashes: 2, why: Died, arity: 4},
		{members: 3, crashes: 1, leavers: []int{0}, why: Died},
		{members: 2, joiners: []Member{{Proc: 2}}, crashes: 1, why: Died, early: 1},
		{members: 3, joiners: []Member{{Proc: 3}}, crashes: 1, why: Died},
		{members: 3, crashes: 1, why: Died, cutoff: true, side: 4},
		{members: 3, crashes: 1, why: Died, cutoff: true, side: 4, far: true},
	} {
		var ends [2]map[string]bool
		var states [2]int
		for i := range ends {
			r.reduced = i == 1
			ends[i] = map[string]bool{}
			most := r.crashes
			for crashes := range most + 1 {
				// With all states, an end has all its crashes.
				r.crashes = crashes
				w := newWorld(r)
				w.ends = ends[i]
				stats, err := explore.All(w, 1_000_000)
				if err != nil {
					t.Fatal(err)
				}
				states[i] = stats.States
			}
		}
		t.Logf("%d of %d states, %d ends", states[1], states[0], len(ends[0]))
		if !maps.Equal(ends[0], ends[1]) {
			t.Errorf("%+v: %d ends, reduced %d", r, len(ends[0]), len(ends[1]))
			for e := range ends[0] {
				if !ends[1][e] {
					t.Fatalf("e.g. %s", e)
				}
			}
		}
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
	if seed%4 == 1 {
		r.changes = 1 + int(seed/4%4)
	}
	if seed%7 == 0 {
		// No process joins during a cut: see Limits.
		r.cutoff, r.side, r.joiners = true, uint32(seed*2654435761)>>20, nil
	}
	return r
}

// TestLenientQuorum: the dead can't simply be left out of the count. Before they died, they may
// have agreed to a view of the silent side.
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

// TestPresumption: a new coordinator that doesn't ask which views have been accepted
// contradicts its predecessor.
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
