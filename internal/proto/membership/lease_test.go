package membership

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// leasing is a world's part for leases. All processes have one clock here: swarms have several.
type leasing struct {
	asks, ticks int
	claims      []claim // by process
}

// claim is what a process relies on: that until a time no process has a later view.
type claim struct {
	view  uint64
	until proto.Time
}

// claims says whether a process that has ended shows no sign of it yet, because it relied on a
// lease.
func (w *world) claims(q int) bool {
	return w.states[q] == stopped && w.leasing.claims[q].until > w.now
}

func (w *world) leaseEvents(dst []event) []event {
	held := len(dst) == 0
	for p, m := range w.machines {
		if w.states[p] != living || m.View() == nil {
			continue
		}
		if w.leasing.asks > 0 {
			dst = append(dst, event{kind: 'a', p: p})
		}
		if w.leasing.claims[p].until > w.now {
			dst = append(dst, event{kind: 'u', p: p})
		}
		if m.Deadline() <= w.now {
			dst = append(dst, event{kind: 'k', p: p})
		}
	}
	// Time passes when there is nothing else to do, too.
	if w.leasing.ticks > 0 || held && len(dst) == 0 && w.waiting() {
		dst = append(dst, event{kind: 'T'})
	}
	return dst
}

// waiting says whether some process waits for a time.
func (w *world) waiting() bool {
	for p, m := range w.machines {
		if w.claims(p) || w.states[p] == living && m.Deadline() != proto.Never {
			return true
		}
	}
	return false
}

// checkLeases notes what a process relies on after its step, and checks all leases.
func (w *world) checkLeases(p int) error {
	if w.rules.asks == 0 {
		return nil
	}
	m := w.machines[p]
	if w.states[p] == living {
		w.leasing.claims[p] = claim{}
		if m.leases.hold > w.now && w.rules.uses {
			w.leasing.claims[p] = claim{m.View().Number, m.leases.hold}
		}
	}
	for q, x := range w.machines {
		c := w.leasing.claims[q]
		if w.states[q] == living && x.View() != nil && x.Leased() > w.now {
			c = claim{x.View().Number, x.Leased()}
		}
		if c.until <= w.now || w.states[q] == dead {
			continue
		}
		for r, at := range w.at {
			if at > c.view {
				return fmt.Errorf("lease: %d relies on view %d until %d, and at %d %d has view %d", q, c.view, c.until, w.now, r, at)
			}
		}
	}
	return nil
}

func (l *leasing) append(dst []byte, now proto.Time, at []uint64) []byte {
	dst = append(dst, 'L', byte(l.asks), byte(l.ticks))
	for _, c := range l.claims {
		dst = append(dst, byte(c.view), byte(max(c.until-now, 0)))
	}
	for _, n := range at {
		dst = append(dst, byte(n))
	}
	return dst
}

// appendLeases appends times as what is left of them.
func (w *world) appendLeases(dst []byte, m *Machine) []byte {
	l := &m.leases
	left := func(t proto.Time) byte { return byte(max(t-w.now, 0)) }
	dst = append(dst, byte(l.request), left(l.stamp+2), left(l.until), left(l.hold), byte(b2i(m.round.held)), byte(len(l.promises)))
	for _, p := range l.promises {
		dst = append(appendMembers(dst, []Member{p.to}), left(p.until))
	}
	return appendDepartures(appendMembers(dst, l.granted), m.round.skip)
}

// leaseRules are small groups with leases: a member that is silent to the others though it lives,
// deaths, members that leave, and cuts.
func leaseRules() (all []rules) {
	for n := 1; n <= 4; n++ {
		for _, uses := range []bool{true, false} {
			r := rules{members: n, asks: 2, ticks: 3, uses: uses, why: Died}
			lies, dies, leaves, cut := r, r, r, r
			lies.lies, dies.crashes, leaves.leavers = 2, 1, []int{0}
			cut.cutoff, cut.side = true, 1
			all = append(all, lies, dies, leaves)
			if n > 1 {
				all = append(all, cut)
				cut.side = 1 << (n - 1)
				all = append(all, cut)
			}
		}
	}
	return all
}

// While a process has a lease no process has a later view: every state of small groups, up to
// -states, and many at random.
func TestLeases(t *testing.T) {
	total := 0
	for i, r := range leaseRules() {
		stats, err := explore.All(newWorld(r), *states*8)
		if total += stats.States; err != nil && stats.States < *states*8 {
			t.Fatalf("%+v: %v", r, err)
		}
		for seed := range uint64(30) {
			r.asks, r.ticks = 4, 6
			if err := explore.Random(newWorld(r), uint64(i)<<16+seed+1, 10_000); err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
		}
	}
	t.Logf("%d states", total)
}

// TestLeaseRulesAreNeeded leaves out each rule, and finds a process that relies on a view that is
// past.
func TestLeaseRulesAreNeeded(t *testing.T) {
	for name, b := range map[string]bugs{
		"a lease goes on after accepting":                {leasesAfterAccepting: true},
		"a process that has accepted a view grants":      {grantsAfterAccepting: true},
		"a process leases without a quorum":              {leasesAlone: true},
		"a process agrees while it holds":                {agreesWhileHolding: true},
		"a lease is longer than the promises to keep it": {longLease: true},
	} {
		found := error(nil)
		for seed := uint64(1); seed <= 3000 && found == nil; seed++ {
			for _, r := range leaseRules() {
				r.bugs, r.asks, r.ticks = b, 4, 6
				if found = explore.Random(newWorld(r), seed, 10_000); found != nil {
					break
				}
			}
		}
		if found == nil || !strings.Contains(found.Error(), "lease: ") {
			t.Errorf("%s: %v, want a lease that doesn't hold", name, found)
		}
	}
}
