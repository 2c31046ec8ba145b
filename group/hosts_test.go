package group_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"banyan/group"
	"banyan/internal/testing/hosts"
)

// Five members run on three hosts, each in a network namespace of its own. A host is cut off, with
// or without the founder, by a network that loses packets or by a firewall that rejects them. The
// other hosts' members go on, and one more joins them. The members that were cut off end, and come
// back when the network heals.
func TestHosts(t *testing.T) {
	t.Parallel()
	if err := hosts.Unavailable(); err != nil {
		t.Skipf("no network namespaces here (root, or user namespaces, and /dev/net/tun are needed): %v", err)
	}
	hostOf := []int{0, 0, 1, 1, 2}
	for _, tc := range []struct {
		away int
		link hosts.Link
	}{{0, hosts.Link{Cut: true}}, {0, hosts.Link{Reject: true}}, {2, hosts.Link{Cut: true}}} {
		away := tc.away
		t.Run(fmt.Sprintf("host %d, rejected %v", away, tc.link.Reject), func(t *testing.T) {
			if testing.Short() && away > 0 {
				t.Skip("some seconds")
			}
			t.Parallel()
			n, err := hosts.NewNetwork(3, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			for i := range 3 {
				n.SetBoth([]int{i}, []int{(i + 1) % 3}, hosts.Link{Delay: time.Millisecond})
			}
			var seeds []string
			address := func(i int) string { return fmt.Sprintf("%v:%d", n.Host(hostOf[i%5]).Addr, 7946+i) }
			start := func(i int) testMember {
				return startWith(t, group.Config{
					Name: fmt.Sprint("p", i), Listen: address(i), Seeds: seeds, Secret: secret,
					HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence,
				}, n.Host(hostOf[i%5]).Start)
			}
			members := []testMember{start(0)}
			awaitLast(t, members[0], "p0")
			for i := range hostOf {
				seeds = append(seeds, address(i))
			}
			for i := 1; i < 5; i++ {
				members = append(members, start(i))
			}
			awaitSize(t, members, 5)

			others := slices.DeleteFunc([]int{0, 1, 2}, func(h int) bool { return h == away })
			n.SetBoth([]int{away}, others, tc.link)
			var stay, cut []testMember
			var gone []int
			for i, l := range members {
				if hostOf[i] == away {
					cut, gone = append(cut, l), append(gone, i)
				} else {
					stay = append(stay, l)
				}
			}
			awaitSize(t, stay, len(stay))
			extra := 5
			for hostOf[extra%5] == away {
				extra++
			}
			stay = append(stay, start(extra))
			awaitSize(t, stay, len(stay))
			for _, l := range cut {
				awaitEnd(t, l, group.ErrMinority)
			}
			n.SetBoth([]int{away}, others, hosts.Link{})
			for _, i := range gone {
				stay = append(stay, start(i))
			}
			awaitSize(t, stay, 6)
			var all []history
			for _, l := range append(members, stay...) {
				h, _, err := l.snapshot()
				if err != nil {
					t.Error(err)
				}
				all = append(all, h)
			}
			if err := check(all); err != nil {
				t.Error(err)
			}
		})
	}
}

// awaitSize waits until all given members have a view of n members.
func awaitSize(t *testing.T, members []testMember, n int) {
	t.Helper()
	for i, l := range members {
		var last group.View
		var over bool
		var cause error
		eventually(settleLimit, func() bool {
			var h history
			if h, over, cause = l.snapshot(); len(h.views) > 0 {
				last = h.views[len(h.views)-1]
			}
			return len(last.Members) == n || over
		})
		switch {
		case len(last.Members) == n:
		case over:
			t.Fatalf("member %d of %d has ended: %v; its last view is %+v, not of %d", i, len(members), cause, last, n)
		default:
			t.Fatalf("member %d of %d: its last view is %+v, not of %d", i, len(members), last, n)
		}
	}
}
