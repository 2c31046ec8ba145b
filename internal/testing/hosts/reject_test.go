package hosts_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"banyan/internal/testing/hosts"
)

// A link that rejects refuses connections and breaks those that there are, as soon as they are
// used. To the processes it looks as if the peer had died.
func TestReject(t *testing.T) {
	t.Parallel()
	n := network(t, 2, 1)
	var l net.Listener
	var err error
	n.Host(0).Do(func() { l, err = net.Listen("tcp", n.Host(0).Addr.String()+":0") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial := func() (c net.Conn, err error) {
		n.Host(1).Do(func() { c, err = net.DialTimeout("tcp", l.Addr().String(), 10*time.Second) })
		return c, err
	}
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The link must not reject the last packet of the handshake: the write would take the reset
	// then, and the read see an end.
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	n.Set(1, 0, hosts.Link{Reject: true})
	if again, err := dial(); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			again.Close()
		}
		t.Errorf("a dial over a rejecting link: %v", err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	c.Write([]byte("x"))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection over a rejecting link: %v", err)
	}
	n.Set(1, 0, hosts.Link{})
	whole, err := dial()
	if err != nil {
		t.Fatalf("a healed link: %v", err)
	}
	whole.Close()
}
