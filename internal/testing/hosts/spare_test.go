package hosts_test

import (
	"maps"
	"testing"
	"time"

	"banyan/internal/testing/hosts"
)

// spared is a job of two ranks of two replicas on two hosts, and two spares on a third.
func spared(rounds int) setting {
	return setting{
		ranks: 2, replicas: 2, spares: 2, rounds: rounds, place: []int32{0, 0, 1, 1, 2, 2},
		period: 50 * time.Millisecond, timeout: 800 * time.Millisecond, pause: 10 * time.Millisecond,
	}
}

// takesPart waits until a spare has run for a while as a process of the job.
func (r *run) takesPart(p int) {
	r.t.Helper()
	r.await("a spare takes part", func() bool { return r.members[p].progress() >= 0 })
	from := r.members[p].progress()
	r.await("a spare goes on", func() bool { return r.members[p].progress() >= from+10 })
}

// expectSlots says that the spares end well, with the undisturbed results of these ranks, in any
// order.
func (r *run) expectSlots(ranks ...int) {
	r.t.Helper()
	want, got := map[string]int{}, map[string]int{}
	for i, rank := range ranks {
		m := r.members[r.ranks*r.replicas+i]
		if code := r.exit(m.proc); code != 0 {
			r.t.Errorf("exit code %d: %v", code, m)
		}
		want[result(rank, r.ranks, r.rounds)]++
		got[m.stdout.String()]++
	}
	if !maps.Equal(got, want) {
		r.t.Errorf("the spares say %v, not %v", got, want)
	}
}

// A process is replaced by a spare on another host.
func TestSpareOnAnotherHost(t *testing.T) {
	t.Parallel()
	r := start(t, network(t, 3, 1), spared(250))
	r.members[1].kill()
	r.takesPart(5)
	r.members[3].kill() // the donor of the replacement's state
	r.takesPart(4)
	r.expectResults([]int{0, 2})
	r.expectSlots(1, 1)
}

// A host is cut off. The spare leader's connections to its processes don't end, but the others have
// a view without them, so both are replaced. The processes on the other side stop by themselves: no
// replica slot has two live processes.
func TestSparesForACutOffHost(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	r := start(t, n, spared(500))
	n.SetBoth([]int{1}, []int{0, 2}, hosts.Link{Cut: true})
	r.takesPart(5)
	r.takesPart(4)
	r.expectStopped([]int{2, 3})
	r.expectResults([]int{0, 1})
	r.expectSlots(0, 1)
}
