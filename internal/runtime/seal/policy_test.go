package seal

import (
	"net"
	"testing"
)

// addrConn is a connection of which only the addresses count.
type addrConn struct {
	net.Conn
	here, there net.Addr
}

func (c addrConn) LocalAddr() net.Addr  { return c.here }
func (c addrConn) RemoteAddr() net.Addr { return c.there }

// Only what leaves the host is sealed, unless the job wants more. Unix sockets never are.
func TestWish(t *testing.T) {
	tcp := func(s string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		here, there string
		hosts, tcp  Wish
	}{
		{"127.0.0.1:1", "127.0.0.2:2", NotThis, This},
		{"10.1.1.1:1", "10.1.1.1:2", NotThis, This},
		{"[::ffff:10.1.1.1]:1", "10.1.1.1:2", NotThis, This},
		{"10.1.1.1:1", "10.1.1.2:1", This, This},
		{"[::1]:1", "[::1]:2", NotThis, This},
		{"[2001:db8::1]:1", "[2001:db8::2]:1", This, This},
		{"127.0.0.1:1", "10.1.1.2:1", This, This},
	} {
		conn := addrConn{here: tcp(c.here), there: tcp(c.there)}
		for policy, want := range map[Policy]Wish{None: Never, Hosts: c.hosts, TCP: c.tcp} {
			if got := policy.Wish(conn); got != want {
				t.Errorf("from %s to %s, policy %d: %d, want %d", c.here, c.there, policy, got, want)
			}
		}
	}
	local := addrConn{here: &net.UnixAddr{}, there: &net.UnixAddr{}}
	if got := TCP.Wish(local); got != NotThis {
		t.Errorf("over a unix socket: %d", got)
	}
}

func TestPoliciesAgree(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		wish   Wish
		want   bool
	}{
		{None, Never, true}, {None, NotThis, false}, {None, This, false},
		{Hosts, Never, false}, {Hosts, NotThis, true}, {Hosts, This, true},
		{TCP, Never, false}, {TCP, NotThis, true}, {TCP, This, true},
	} {
		if got := c.policy.Agrees(c.wish); got != c.want {
			t.Errorf("policy %d, wish %d: %v", c.policy, c.wish, got)
		}
	}
}
