package mesh

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"banyan/internal/proto"
)

// hold opens a meeting and returns its address, and who has come.
func hold(t *testing.T, host Meeting) (address string, guests chan proto.Proc, refused chan error) {
	t.Helper()
	door, err := host.Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	guests, refused = make(chan proto.Proc, 10), make(chan error, 10)
	served := make(chan struct{})
	go func() {
		defer close(served)
		door.Serve(func(conn net.Conn, from proto.Proc) {
			defer conn.Close()
			io.Copy(conn, conn)
			guests <- from
		}, func(err error) { refused <- err })
	}()
	t.Cleanup(func() { door.Close(); <-served })
	return door.Address(), guests, refused
}

func TestMeeting(t *testing.T) {
	address, guests, refused := hold(t, Meeting{Self: 6, Secret: testSecret})
	conn, err := Meeting{Self: 3, Secret: testSecret}.Dial(t.Context(), address, 6)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	var b [5]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil || string(b[:]) != "hello" {
		t.Errorf("%q came back, %v", b, err)
	}
	conn.Close()
	if from := <-guests; from != 3 || len(refused) > 0 {
		t.Errorf("process %d came, %d were refused", from, len(refused))
	}
}

func TestMeetingRefuses(t *testing.T) {
	address, guests, refused := hold(t, Meeting{Self: 6, Secret: testSecret})
	other := append([]byte{1}, testSecret...)
	for name, dial := range map[string]func() (net.Conn, error){
		"another secret": func() (net.Conn, error) { return Meeting{3, other}.Dial(t.Context(), address, 6) },
		"another host":   func() (net.Conn, error) { return Meeting{3, testSecret}.Dial(t.Context(), address, 5) },
		"a link": func() (net.Conn, error) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			v, _, err := Meeting{3, testSecret}.party().dial(conn, 6, 0, toConnect)
			if err == nil && v != accepted {
				err = io.EOF
			}
			return conn, err
		},
		"noise": func() (net.Conn, error) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
			return nil, io.EOF
		},
	} {
		if conn, err := dial(); err == nil {
			conn.Close()
			t.Errorf("%s is let in", name)
		}
		select {
		case <-refused:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: nobody is told", name)
		}
	}
	if len(guests) > 0 {
		t.Error("somebody was let in")
	}
}

// A meeting's guest isn't let into the frames' door, nor does a host that is gone hold anybody up.
func TestMeetingElsewhere(t *testing.T) {
	c := newCrowd(t, 2, func(*Config) {})
	if conn, err := (Meeting{0, c.transports[1].dialler.secret}).Dial(t.Context(), c.transports[1].Card().Addr, 1); err == nil {
		conn.Close()
		t.Error("it is let in")
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (Meeting{0, testSecret}).Dial(ctx, silent.Addr().String(), 1); err == nil {
		t.Error("somebody was met")
	}
}
