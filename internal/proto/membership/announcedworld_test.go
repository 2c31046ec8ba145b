package membership

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// announce tells all that a process joins, as a launcher does before it tells of later deaths.
func (w *world) announce(p int) {
	for q, m := range w.machines {
		if q == p || w.states[q] != living {
			continue
		}
		w.machines[q] = clone(m)
		w.machines[q].Announce(w.members[p])
		w.machines[p].Announce(w.members[q])
	}
}

// settles checks that no coordinator waits for the answer of a process that it can reach.
func (w *world) settles() error {
	for p, m := range w.machines {
		if w.states[p] != living {
			continue
		}
		for _, x := range m.expected {
			if q := w.index(x.Member); x.claimed && !x.pledged && w.states[q] == living && (!w.cut || w.together(p, q)) {
				return fmt.Errorf("%d has asked %d, and waits for ever", p, q)
			}
		}
	}
	return nil
}

// announcedGroups are groups in which processes join, new ones and such that come back, while the
// network is cut, one way or not, for good or not, or the detector is wrong.
func announcedGroups(members, crashes, joiners int) (all []rules) {
	for _, back := range []bool{false, true} {
		r := rules{members: members, crashes: crashes, why: Died, announces: true, reduced: true}
		for j := range joiners {
			r.joiners = append(r.joiners, Member{Proc: proto.Proc(members + j)})
		}
		if back {
			r.joiners[0] = Member{Proc: 0, Incarnation: 1}
		}
		lies := r
		lies.lies = 1
		all = append(all, lies)
		for side := uint32(1); side < 1<<(members+joiners)-1; side++ {
			cut := r
			cut.cutoff, cut.side = true, side
			heals, oneWay := cut, cut
			heals.heals, oneWay.oneWay = true, true
			if side&1 == 1 { // the others are the same cuts
				all = append(all, cut, heals)
			}
			all = append(all, oneWay)
		}
	}
	return all
}

// TestAnnounced visits all states of small groups in which a process joins while others die or hold
// each other for dead. Two live processes never have different views of one number, because all
// were told of the process before it joined.
func TestAnnounced(t *testing.T) {
	groups := announcedGroups(2, 1, 1)
	if explore.Long() {
		groups = slices.Concat(groups, announcedGroups(2, 1, 2), announcedGroups(3, 1, 1), announcedGroups(3, 2, 1))
	}
	total := 0
	for _, r := range groups {
		stats, err := explore.All(newWorld(r), *announcedStates)
		if total += stats.States; errors.Is(err, explore.ErrLimit) {
			t.Logf("%v: the first %d states", r, stats.States)
		} else if err != nil {
			t.Errorf("%v: %v", r, err)
		}
	}
	t.Logf("%d states of %d groups", total, len(groups))
}

// announcedStates bounds how many states of a group TestAnnounced visits.
var announcedStates = flag.Int("announced", 10_000_000, "visit so many states of each group of TestAnnounced")

// TestAnnouncedRandom plays larger groups, with more deaths and more that join.
func TestAnnouncedRandom(t *testing.T) {
	seeds := uint64(6000)
	if explore.Long() {
		seeds *= 100
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		r := announcedMixture(seed)
		if err := explore.Random(newWorld(r), seed, 100_000); err != nil {
			t.Fatalf("%v: %v", r, err)
		}
	}
}

func announcedMixture(seed uint64) rules {
	members := 2 + int(seed%4)
	groups := announcedGroups(members, 1+int(seed/4)%members, 1+int(seed/16)%2)
	return groups[seed*2654435761>>8%uint64(len(groups))]
}

// A canary: who goes on alone, and asks nobody who was announced, has a view beside that of the one
// whom the dead have let in. All states and random ones show it.
func TestAnnouncedIgnoredIsFound(t *testing.T) {
	found := 0
	for _, r := range announcedGroups(2, 1, 1) {
		r.bugs.ignoresAnnounced = true
		if _, err := explore.All(newWorld(r), 1_000_000); err != nil {
			if found++; !strings.Contains(err.Error(), "agreement: ") {
				t.Errorf("%v: %v", r, err)
			}
		}
	}
	if found == 0 {
		t.Error("not found in all states")
	}
	for seed := uint64(1); ; seed++ {
		r := announcedMixture(seed)
		r.bugs.ignoresAnnounced = true
		if err := explore.Random(newWorld(r), seed, 100_000); err != nil {
			t.Logf("in %d groups, and at random with seed %d: %v", found, seed, err)
			return
		}
		if seed == 20_000 {
			t.Fatal("not found at random")
		}
	}
}
