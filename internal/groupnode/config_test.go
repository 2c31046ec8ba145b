package groupnode

import (
	"errors"
	"net"
	"testing"
	"time"
)

// The times that aren't given fit those that are.
func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	for _, x := range []struct{ period, timeout, wantPeriod, wantTimeout time.Duration }{
		{0, 0, 250 * ms, 1000 * ms},
		{0, 400 * ms, 100 * ms, 400 * ms},
		{0, 5000 * ms, 250 * ms, 5000 * ms},
		{50 * ms, 0, 50 * ms, 1000 * ms},
		{500 * ms, 0, 500 * ms, 5000 * ms},
		{100 * ms, 700 * ms, 100 * ms, 700 * ms},
	} {
		c := Config{Name: "a", Secret: testSecret, Period: x.period, Timeout: x.timeout}
		if err := c.complete(); err != nil || c.Period != x.wantPeriod || c.Timeout != x.wantTimeout {
			t.Errorf("%v and %v become %v and %v, %v; want %v and %v", x.period, x.timeout, c.Period, c.Timeout, err, x.wantPeriod, x.wantTimeout)
		}
	}
}

// A child that is just starting holds the sockets of its parent until it calls exec. A member takes
// the address once the child has let go of it, and doesn't wait for one that stays in use.
func TestListenAfterFork(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Group: "g", Name: "anna", Secret: testSecret, Listen: closed.Addr().String()}
	held, err := closed.(*net.TCPListener).File() // what a child holds
	closed.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.open(); !errors.Is(err, ErrAddressInUse) {
		t.Fatal(err)
	}
	time.AfterFunc(addressFreed/5, func() { held.Close() })
	socket, err := cfg.open()
	if err != nil {
		t.Fatal(err)
	}
	socket.Close()
}
