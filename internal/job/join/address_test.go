package join

import (
	"net"
	"strings"
	"testing"

	"banyan/internal/job/env"
)

func TestOutward(t *testing.T) {
	list := func(s string) []net.IP {
		var all []net.IP
		for _, f := range strings.Fields(s) {
			all = append(all, net.ParseIP(f))
		}
		return all
	}
	for _, tc := range []struct{ named, local, want string }{
		{"", "127.0.0.1 ::1", "<nil>"},
		{"", "127.0.0.1 10.0.0.7 10.1.0.7", "10.0.0.7"},
		{"10.1.0.7", "127.0.0.1 10.0.0.7 10.1.0.7", "10.1.0.7"},
		{"127.0.1.1", "127.0.0.1 10.0.0.7", "10.0.0.7"},      // as Debian writes /etc/hosts
		{"192.0.2.1", "127.0.0.1 10.0.0.7", "10.0.0.7"},      // a name that leads elsewhere
		{"", "::1 fe80::1 2001:db8::7 10.0.0.7", "10.0.0.7"}, // version 4 first
		{"", "::1 fe80::1 2001:db8::7", "2001:db8::7"},
		{"2001:db8::7", "10.0.0.7 2001:db8::7", "2001:db8::7"},
		{"", "fe80::1 169.254.1.1", "<nil>"}, // of the link only
	} {
		if got := outward(list(tc.named), list(tc.local)).String(); got != tc.want {
			t.Errorf("name %q, addresses %q: got %s, want %s", tc.named, tc.local, got, tc.want)
		}
	}
}

func TestListenAddress(t *testing.T) {
	t.Setenv(env.Address, "")
	// Processes of other hosts must not reach a job of one host.
	if got, err := listenAddress([]int32{3, 3, 3}); got != "127.0.0.1" || err != nil {
		t.Errorf("one host: %s, %v", got, err)
	}
	// Replacements on other hosts must reach one that has others.
	t.Setenv(env.Elsewhere, "1")
	local, err := localAddresses()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := listenAddress([]int32{3, 3, 3}); outward(nil, local) != nil && (err != nil || net.ParseIP(got) == nil || net.ParseIP(got).IsLoopback()) {
		t.Errorf("with other hosts: %s, %v", got, err)
	}
	t.Setenv(env.Address, "192.0.2.9")
	if got, err := listenAddress([]int32{0, 0}); got != "192.0.2.9" || err != nil {
		t.Errorf("a wish: %s, %v", got, err)
	}
	t.Setenv(env.Address, "lo")
	if got, err := listenAddress([]int32{0, 1}); err == nil {
		t.Errorf("the loopback interface gave %s", got)
	}
}
