package group_test

import (
	"fmt"
	"testing"
	"time"

	"banyan/group"
	"banyan/internal/testing/hosts"
)

// Three sites are 300 ms from each other and back, and then one of them is cut off for three
// seconds. With the times of WAN nobody is taken for dead.
func TestWAN(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	if err := hosts.Unavailable(); err != nil {
		t.Skipf("no network namespaces here (root, or user namespaces, and /dev/net/tun are needed): %v", err)
	}
	n, err := hosts.NewNetwork(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	far := hosts.Link{Delay: 150 * time.Millisecond}
	for i := range 3 {
		n.SetBoth([]int{i}, []int{(i + 1) % 3}, far)
	}
	var members []testMember
	var seeds []string
	for i := range 3 {
		address := fmt.Sprintf("%v:7946", n.Host(i).Addr)
		members = append(members, startWith(t, group.Config{Name: fmt.Sprint("p", i), Listen: address, Seeds: seeds, Secret: secret}.WAN(), n.Host(i).Start))
		seeds = append(seeds, address)
		awaitSize(t, members, i+1)
	}
	n.SetBoth([]int{2}, []int{0, 1}, hosts.Link{Cut: true})
	time.Sleep(3 * time.Second)
	n.SetBoth([]int{2}, []int{0, 1}, far)
	time.Sleep(3 * time.Second)
	for i, m := range members {
		if h, over, err := m.snapshot(); over || err != nil || h.views[len(h.views)-1].Number != 3 {
			t.Errorf("p%d: ended %v, %v; its views: %v", i, over, err, h.views)
		}
	}
}

// What a program has set stays.
func TestWANKeeps(t *testing.T) {
	c := group.Config{HeartbeatPeriod: time.Second}.WAN()
	if c.HeartbeatPeriod != time.Second || c.HeartbeatTimeout != 10*time.Second {
		t.Errorf("%v, %v", c.HeartbeatPeriod, c.HeartbeatTimeout)
	}
	if d := (group.Config{HeartbeatTimeout: time.Minute}).WAN(); d.HeartbeatTimeout != time.Minute || d.HeartbeatPeriod != 500*time.Millisecond {
		t.Errorf("%v, %v", d.HeartbeatPeriod, d.HeartbeatTimeout)
	}
}
