package remote

import (
	"context"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
)

// mute is an address of which the kernel drops each SYN, as one behind a link that is down.
func mute(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
	for range 8 { // until its queue is full
		c, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("the kernel takes connections for which nobody has room")
	return ""
}

// The launcher has two addresses. One of them is behind a link that is down; the other one answers
// after a while. The agent finds it soon, and doesn't wait as long as a lease for the first one.
func TestDeadAddressHoldsUpNothing(t *testing.T) {
	t.Parallel()
	key := secure.NewKey()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	later := socket.Addr().String()
	socket.Close()
	d := &dialler{addresses: []string{mute(t), later}, changed: make(chan struct{}), key: key, build: buildOr("")}
	const until = 300 * time.Millisecond
	failed := make(chan error, 1)
	time.AfterFunc(until, func() {
		socket, err := net.Listen("tcp", later)
		if err != nil {
			failed <- err
			return
		}
		l := ListenOn(socket, key, Options{})
		t.Cleanup(func() { l.Close() })
		failed <- nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	begun := time.Now()
	c, err := d.dial(ctx, func() wire.Greeting {
		return wire.Greeting{Version: wire.Version, Build: d.build, Instance: newInstance()}
	})
	if told := <-failed; told != nil {
		t.Skip(told) // another process has taken the port
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	took := time.Since(begun)
	t.Logf("it took %v, and the launcher was there after %v", took, until)
	if took > 4*time.Second { // an attempt took 5 s before
		t.Error("that is too long")
	}
}
