package handshake

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
)

// hold makes a process the host of a meeting. It returns its address, and channels of the diallers
// that were accepted and of the errors of those that were refused.
func hold(t *testing.T, host Meeting) (address string, diallers chan proto.Proc, refused chan error) {
	t.Helper()
	listener, err := host.Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	diallers, refused = make(chan proto.Proc, 10), make(chan error, 10)
	served := make(chan struct{})
	go func() {
		defer close(served)
		listener.Serve(func(conn net.Conn, from proto.Proc) {
			defer conn.Close()
			io.Copy(conn, conn)
			diallers <- from
		}, func(err error) { refused <- err })
	}()
	t.Cleanup(func() { listener.Close(); <-served })
	return listener.Address(), diallers, refused
}

func TestMeeting(t *testing.T) {
	address, diallers, refused := hold(t, Meeting{Self: 6, Secret: testSecret})
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
	if from := <-diallers; from != 3 || len(refused) > 0 {
		t.Errorf("process %d came, %d were refused", from, len(refused))
	}
}

func TestMeetingRefuses(t *testing.T) {
	address, diallers, refused := hold(t, Meeting{Self: 6, Secret: testSecret})
	other := append([]byte{1}, testSecret...)
	for name, dial := range map[string]func() (net.Conn, error){
		"another secret": func() (net.Conn, error) { return Meeting{Self: 3, Secret: other}.Dial(t.Context(), address, 6) },
		"another host":   func() (net.Conn, error) { return Meeting{Self: 3, Secret: testSecret}.Dial(t.Context(), address, 5) },
		"a link": func() (net.Conn, error) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			link := meetingHello{purpose: 1, tag: meetingTag, from: 3, to: 6}
			answer, err := Job.Dial(conn, testSecret, link.encode())
			if err == nil && answer[0] != welcome {
				err = io.EOF
			}
			return conn, err
		},
		"another job's link": func() (net.Conn, error) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			link := meetingHello{purpose: toMeet, tag: [16]byte{1}, from: 3, to: 6}
			_, err = Job.Dial(conn, testSecret, link.encode())
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
			t.Fatalf("%s: the refusal isn't reported", name)
		}
	}
	if len(diallers) > 0 {
		t.Error("a dialler was accepted")
	}
}

// Between processes that seal, nothing of what they say is to be seen; between those that differ in
// it there is no connection, and both say why.
func TestMeetingSealed(t *testing.T) {
	near, far := Meeting{Self: 3, Secret: testSecret, Sealing: seal.TCP}, Meeting{Self: 6, Secret: testSecret, Sealing: seal.TCP}
	address, diallers, refused := hold(t, far)
	conn, err := near.Dial(t.Context(), address, 6)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := conn.(*seal.Conn); !is {
		t.Error("it isn't sealed")
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
	if from := <-diallers; from != 3 || len(refused) > 0 {
		t.Errorf("process %d came, %d were refused", from, len(refused))
	}
	for _, sealing := range []seal.Policy{seal.None, seal.Hosts, seal.TCP} {
		near.Sealing, far.Sealing = sealing, seal.None
		address, diallers, refused := hold(t, far)
		conn, err := near.Dial(t.Context(), address, 6)
		if sealing == seal.None {
			if err != nil {
				t.Fatal(err)
			}
			conn.Close()
			<-diallers
			continue
		}
		if !errors.Is(err, seal.ErrUnlike) {
			t.Errorf("sealing %d: the dialler: %v", sealing, err)
		}
		if err := <-refused; !errors.Is(err, seal.ErrUnlike) {
			t.Errorf("sealing %d: the host: %v", sealing, err)
		}
	}
}
