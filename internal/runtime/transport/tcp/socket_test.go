package tcp

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Both ends of a connection within the host have the congestion control that is meant for it, and
// others keep the system's.
func TestCongestion(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	for _, c := range []net.Conn{dialled, accepted} {
		fd, err := TakeOver(c.(Conn))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if got, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || got != withinHost {
			t.Errorf("the congestion control is %q, %v", got, err)
		}
	}
}

// ends is a connection of which only the addresses count.
type ends struct {
	Conn
	local, remote net.Addr
}

func (e ends) LocalAddr() net.Addr  { return e.local }
func (e ends) RemoteAddr() net.Addr { return e.remote }

func TestWithin(t *testing.T) {
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 7} }
	for _, c := range []struct {
		local, remote net.Addr
		want          bool
	}{
		{at("127.0.0.1"), at("127.0.0.1"), true},
		{at("127.0.0.1"), at("127.0.0.2"), true},
		{at("::1"), at("::1"), true},
		{at("10.0.0.1"), at("10.0.0.1"), true},
		{at("10.0.0.1"), at("10.0.0.2"), false},
		{at("10.0.0.1"), at("127.0.0.1"), false},
		{&net.UnixAddr{Name: "a"}, &net.UnixAddr{Name: "a"}, false},
	} {
		if got := Within(ends{local: c.local, remote: c.remote}); got != c.want {
			t.Errorf("from %v to %v: within the host %v", c.local, c.remote, got)
		}
	}
}
