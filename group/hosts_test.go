package group_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"banyan/group"
	"banyan/internal/testing/hosts"
)

// Five members on three hosts, each in a network of its own. A host is cut off, with the founder or
// without; the others go on, and whoever was cut off ends, and comes back when the
// network is mended. In between somebody joins on the side that goes on.
func TestHosts(t *testing.T) {
	t.Parallel()
	if err := hosts.Unavailable(); err != nil {
		t.Skipf("no network namespaces here (root, or user namespaces, and /dev/net/tun are needed): %v", err)
	}
	place := []int{0, 0, 1, 1, 2}
	awayHosts := []int{0, 2}
	if testing.Short() {
		awayHosts = awayHosts[:1]
	}
	for _, away := range awayHosts {
		t.Run(fmt.Sprint("host ", away), func(t *testing.T) {
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
			address := func(i int) string { return fmt.Sprintf("%v:%d", n.Host(place[i%5]).Addr, 7946+i) }
			start := func(i int) life {
				return startWith(t, group.Config{
					Name: fmt.Sprint("p", i), Listen: address(i), Seeds: seeds, Secret: secret,
					HeartbeatPeriod: faultPeriod, HeartbeatTimeout: faultSilence,
				}, n.Host(place[i%5]).Start)
			}
			lives := []life{start(0)}
			awaitLast(t, lives[0], "p0")
			for i := range place {
				seeds = append(seeds, address(i))
			}
			for i := 1; i < 5; i++ {
				lives = append(lives, start(i))
			}
			awaitSize(t, lives, 5)

			others := slices.DeleteFunc([]int{0, 1, 2}, func(h int) bool { return h == away })
			n.SetBoth([]int{away}, others, hosts.Link{Cut: true})
			var stay, cut []life
			var gone []int
			for i, l := range lives {
				if place[i] == away {
					cut, gone = append(cut, l), append(gone, i)
				} else {
					stay = append(stay, l)
				}
			}
			awaitSize(t, stay, len(stay))
			extra := 5
			for place[extra%5] == away {
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
			for _, l := range append(lives, stay...) {
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

// awaitSize waits until all of some lives have a view of so many.
func awaitSize(t *testing.T, lives []life, n int) {
	t.Helper()
	for _, l := range lives {
		var last group.View
		if !eventually(settleLimit, func() bool {
			if h, _, _ := l.snapshot(); len(h.views) > 0 {
				last = h.views[len(h.views)-1]
			}
			return len(last.Members) == n
		}) {
			t.Fatalf("its last view is %+v, not of %d", last, n)
		}
	}
}
