package hosts_test

import (
	"testing"
	"time"

	"banyan/internal/testing/hosts"
)

// What these tests assert is specified in docs/guide/detector.md, "Several hosts".

const (
	period  = 50 * time.Millisecond
	timeout = 750 * time.Millisecond
	pause   = 20 * time.Millisecond
)

// threeHosts has two processes on each of three hosts. Any two hosts have a
// replica of each rank.
var threeHosts = setting{
	ranks: 3, replicas: 2, rounds: 250, place: []int32{0, 0, 1, 1, 2, 2},
	period: period, timeout: timeout, pause: pause,
}

// A host that the others don't hear is excluded in time, whatever it hears itself. Its processes
// stop: because they are too few, or because they are told when the network is whole again. The
// others end with the undisturbed result.
func TestVanishedHost(t *testing.T) {
	t.Parallel()
	cut := hosts.Link{Cut: true}
	for _, tc := range []struct {
		name     string
		out, in  hosts.Link // from the host, to the host
		healLate bool       // when it has found all the others silent
	}{
		{"a cut, healed late", cut, cut, true},
		{"a cut, healed at once", cut, cut, false},
		{"unheard", cut, hosts.Link{}, false},
		{"rejected", hosts.Link{Reject: true}, hosts.Link{Reject: true}, false},
		{"slower than the time-out", hosts.Link{Delay: 3 * timeout}, hosts.Link{Delay: 3 * timeout}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := network(t, 3, 1)
			s := threeHosts
			if tc.healLate {
				s.rounds = 350 // it takes the vanished 3δ to find all others silent
			}
			r := start(t, n, s)
			vanished, rest := []int{4, 5}, []int{0, 1, 2, 3}
			set := func(out, in hosts.Link) {
				for h := range 2 {
					n.Set(2, h, out)
					n.Set(h, 2, in)
				}
			}
			at := time.Now()
			set(tc.out, tc.in)
			known := r.awaitKnowledge(rest, vanished).Sub(at)
			t.Logf("known after %v", known)
			// Each process of the host has its observer on another host, so all are found at
			// once. A ring in the order of ranks would take 3δ. The bound in between leaves
			// room for a busy machine.
			if bound := 5 * timeout / 2; known > bound {
				t.Errorf("it takes %v to know of a vanished host, more than %v", known, bound)
			}
			if tc.healLate {
				r.awaitKnowledge(vanished, rest)
			}
			set(hosts.Link{}, hosts.Link{})
			r.expectStopped(vanished)
			r.expectResults(rest)
			r.expectNoDeaths(rest, vanished...)
		})
	}
}

// A host with more processes than may die during one broadcast, 8 of 32, is known as soon, all of
// it.
func TestVanishedLargeHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts 32 processes")
	}
	// Not parallel: it would starve the other tests.
	n := network(t, 4, 1)
	s := setting{ranks: 16, replicas: 2, rounds: 60, period: 100 * time.Millisecond, timeout: 2 * time.Second, pause: 50 * time.Millisecond}
	var vanished, rest []int
	for p := range 32 {
		s.place = append(s.place, int32(p/8))
		if p < 24 {
			rest = append(rest, p)
		} else {
			vanished = append(vanished, p)
		}
	}
	r := start(t, n, s)
	at := time.Now()
	n.SetBoth([]int{0, 1, 2}, []int{3}, hosts.Link{Cut: true})
	known := r.awaitKnowledge(rest, vanished).Sub(at)
	t.Logf("known after %v", known)
	if known > 2*s.timeout {
		t.Errorf("it takes %v to know of a vanished host", known)
	}
	r.expectResults(rest)
	r.expectNoDeaths(rest, vanished...)
}

// On a host that vanished for good, processes that need the others end by themselves. That doesn't
// end the others, although all share one PMI server.
func TestVanishedHostEnds(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	s := threeHosts
	s.mortal, s.rounds = true, 150
	r := start(t, n, s)
	vanished, rest := []int{4, 5}, []int{0, 1, 2, 3}
	n.SetBoth([]int{0, 1}, []int{2}, hosts.Link{Cut: true})
	r.expectFailure(vanished, "rank 0 is lost")
	r.expectResults(rest)
	r.expectNoDeaths(rest, vanished...)
}

// A process that is heard but hears no other is believed when it suspects its emitter. Both are
// excluded, and both stop.
func TestDeafHost(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	r := start(t, n, setting{
		ranks: 2, replicas: 3, rounds: 250, place: []int32{0, 0, 0, 1, 1, 2},
		period: period, timeout: timeout, pause: pause,
	})
	for h := range 2 {
		n.Set(h, 2, hosts.Link{Cut: true})
	}
	const deaf = 5
	r.awaitKnowledge([]int{0, 1}, []int{deaf})
	for h := range 2 {
		n.Set(h, 2, hosts.Link{})
	}
	r.expectExcluded([]int{deaf})
	var excluded, rest []int
	for p, m := range r.members[:deaf] {
		if code := r.exit(p); code == 0 {
			rest = append(rest, p)
			m.end <- code
		} else {
			excluded = append(excluded, p)
			m.end <- code
		}
	}
	r.expectExcluded(excluded)
	r.expectResults(rest)
	r.expectNoDeaths(rest, append(excluded, deaf)...)
	if len(excluded) > 1 {
		t.Errorf("one deaf process took %v with it", excluded)
	}
}

// The death of a process on another host is known long before δ of silence, although no launcher
// tells: another process on its host hears of it from the kernel, and testifies.
func TestKilledOnAnotherHost(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	s := threeHosts
	s.rounds, s.timeout = 100, 20*time.Second
	r := start(t, n, s)
	killed, rest := 4, []int{0, 1, 2, 3, 5}
	at := time.Now()
	r.members[killed].kill()
	known := r.awaitKnowledge(rest, []int{killed}).Sub(at)
	t.Logf("known after %v", known)
	if known > s.timeout/4 {
		t.Errorf("it takes %v to know of a death", known)
	}
	r.expectResults(rest)
	r.expectNoDeaths(rest, killed)
}

// Nobody can testify to the death of a process that was alone on its host. Its silence tells.
func TestKilledAlone(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	s := threeHosts
	s.place, s.timeout, s.rounds = []int32{0, 0, 1, 1, 1, 2}, 2*time.Second, 200
	r := start(t, n, s)
	killed, rest := 5, []int{0, 1, 2, 3, 4}
	at := time.Now()
	r.members[killed].kill()
	known := r.awaitKnowledge(rest, []int{killed}).Sub(at)
	t.Logf("known after %v", known)
	if known < s.timeout-2*s.period || known > 5*s.timeout/2 {
		t.Errorf("it takes %v to know of a death that nobody saw", known)
	}
	r.expectResults(rest)
	r.expectNoDeaths(rest, killed)
}

// Of two halves that don't hear each other, each with a replica of every rank, the one with the
// most senior process goes on, and the other one stops while the cut lasts.
func TestHalves(t *testing.T) {
	t.Parallel()
	n := network(t, 2, 1)
	r := start(t, n, setting{
		ranks: 3, replicas: 2, rounds: 250, place: []int32{0, 0, 0, 1, 1, 1},
		period: period, timeout: timeout, pause: pause,
	})
	lower, upper := []int{0, 1, 2}, []int{3, 4, 5}
	n.SetBoth([]int{0}, []int{1}, hosts.Link{Cut: true})
	r.awaitKnowledge(lower, upper)
	r.expectFailure(upper, minority)
	r.expectResults(lower)
	r.expectNoDeaths(lower, upper...)
}

// A firewall between two halves, each with a replica of every rank, rejects what passes: to each
// half the other one looks as if all its processes had ended. At most one half goes on all the
// same, also if only one direction is rejected, or lost.
func TestRejectedHalves(t *testing.T) {
	t.Parallel()
	cut, reject := hosts.Link{Cut: true}, hosts.Link{Reject: true}
	for _, tc := range []struct {
		name     string
		out, in  hosts.Link // from the lower half, to it
		lowerHas bool       // the lower half goes on for sure
	}{
		{"both rejected", reject, reject, true},
		{"one rejected", reject, hosts.Link{}, false},
		{"the other rejected", hosts.Link{}, reject, false},
		{"one rejected, one lost", reject, cut, true},
		{"one lost", cut, hosts.Link{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := network(t, 2, 1)
			r := start(t, n, setting{
				ranks: 3, replicas: 2, rounds: 250, place: []int32{0, 0, 0, 1, 1, 1},
				period: period, timeout: timeout, pause: pause,
			})
			n.Set(0, 1, tc.out)
			n.Set(1, 0, tc.in)
			lower, upper := []int{0, 1, 2}, []int{3, 4, 5}
			if tc.lowerHas {
				r.expectStopped(upper)
				r.expectResults(lower)
				return
			}
			done := func(half []int) (n int) {
				for _, p := range half {
					if r.exit(p) == 0 {
						n++
					}
				}
				return n
			}
			if l, u := done(lower), done(upper); l > 0 && u > 0 {
				t.Errorf("both halves go on: %v", r.members)
			}
		})
	}
}

// One bad link between two of three hosts kills nobody, whatever it does with the packets, if it is
// whole again before the processes at its ends have been of no use to each other for too long: the
// third host vouches for both.
func TestBadLink(t *testing.T) {
	t.Parallel()
	cut := hosts.Link{Cut: true}
	for _, tc := range []struct {
		name      string
		out, back hosts.Link
	}{{"cut", cut, cut}, {"one way", cut, hosts.Link{}}, {"slower than the time-out", hosts.Link{Delay: 2 * timeout}, hosts.Link{}}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := network(t, 3, 1)
			s := threeHosts
			s.rounds = 150
			r := start(t, n, s)
			everybody := []int{0, 1, 2, 3, 4, 5}
			n.Set(0, 1, tc.out)
			n.Set(1, 0, tc.back)
			time.Sleep(3 * timeout)
			n.SetBoth([]int{0}, []int{1}, hosts.Link{})
			r.expectResults(everybody)
			r.expectNoDeaths(everybody)
		})
	}
}

// Of two hosts whose link stays bad one has to go in the end, since their processes can't exchange
// messages. Both ends agree which one.
func TestBadLinkForGood(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	s := threeHosts
	s.timeout, s.rounds = 500*time.Millisecond, 350
	r := start(t, n, s)
	at := time.Now()
	n.SetBoth([]int{0}, []int{1}, hosts.Link{Cut: true})
	r.expectFailure([]int{2, 3}, "though others reach both: this one stops")
	if took := time.Since(at); took < 9*s.timeout {
		t.Errorf("after %v", took)
	}
	r.expectResults([]int{0, 1, 4, 5})
}

// A link that rejects breaks the connections between two of three hosts: what was in them is lost.
// The processes at one of its ends go, those at the other and all others go on.
func TestRejectingLink(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	r := start(t, n, threeHosts)
	n.SetBoth([]int{0}, []int{1}, hosts.Link{Reject: true})
	r.expectStopped([]int{2, 3})
	r.expectResults([]int{0, 1, 4, 5})
}

// No process is suspected because of an outage of a quarter of the time-out. To a process it looks
// twice as long, because TCP waits that long before it tries again.
func TestShortOutage(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 1)
	s := threeHosts
	s.rounds, s.timeout = 150, 2*time.Second
	r := start(t, n, s)
	all, everybody := []int{0, 1, 2}, []int{0, 1, 2, 3, 4, 5}
	n.SetBoth(all, all, hosts.Link{Cut: true})
	time.Sleep(s.timeout / 4)
	n.SetBoth(all, all, hosts.Link{})
	r.expectResults(everybody)
	r.expectNoDeaths(everybody)
}

// No process is suspected over a network that is slow and loses packets within what the defaults
// allow for.
func TestBadNetwork(t *testing.T) {
	t.Parallel()
	n := network(t, 3, 7)
	s := threeHosts
	// Three times the defaults, and so is the spike: a busy machine may keep a process from running
	// for a second, and no other host knows (docs/design/decisions/0020-starved-processes.md).
	s.rounds, s.period, s.timeout = 60, 300*time.Millisecond, 3*time.Second
	r := start(t, n, s)
	all := []int{0, 1, 2}
	bad := hosts.Link{Delay: 20 * time.Millisecond, Loss: 0.02}
	n.SetBoth(all, all, bad)
	time.Sleep(2 * time.Second)
	spike := bad
	spike.Delay = s.timeout / 4
	n.SetBoth(all, all, spike)
	time.Sleep(time.Second)
	n.SetBoth(all, all, bad)
	everybody := []int{0, 1, 2, 3, 4, 5}
	r.expectResults(everybody)
	r.expectNoDeaths(everybody)
	lost := 0
	for from := range 3 {
		for to := range 3 {
			_, l := n.Carried(from, to)
			lost += l
		}
	}
	if lost == 0 {
		t.Error("no packet was lost: nothing was tested")
	}
}
