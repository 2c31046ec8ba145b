package pmi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// dial starts serving a new process of s and returns its client.
func dial(t *testing.T, s *Server, rank, size int) *Client {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(rank, os.NewFile(uintptr(fds[0]), "server"))
	c, err := NewClient(os.NewFile(uintptr(fds[1]), "client"), rank, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.conn.Close() })
	return c
}

func noAbort(rank, code int, message string) { panic("unexpected abort") }

// within fails the test if f hangs.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

func TestProcessesFindEachOther(t *testing.T) {
	const n = 5
	s := NewServer(n, "job", noAbort)
	var wg sync.WaitGroup
	for rank := range n {
		c := dial(t, s, rank, n)
		wg.Go(func() {
			for round := range 3 {
				if err := c.Put(fmt.Sprintf("k%d-%d", round, rank), fmt.Sprintf("v=%d", rank)); err != nil {
					t.Error(err)
				}
				if err := c.Barrier(); err != nil {
					t.Error(err)
				}
				for other := range n {
					v, err := c.Get(fmt.Sprintf("k%d-%d", round, other))
					if err != nil || v != fmt.Sprintf("v=%d", other) {
						t.Errorf("process %d got %q, %v from %d", rank, v, err, other)
					}
				}
			}
			if err := c.Finalize(); err != nil {
				t.Error(err)
			}
		})
	}
	within(t, "the exchange", wg.Wait)
}

func TestBarrierCountsTheLiving(t *testing.T) {
	s := NewServer(3, "job", noAbort)
	a, b := dial(t, s, 0, 3), dial(t, s, 1, 3)
	dial(t, s, 2, 3)
	opened := make(chan error, 2)
	go func() { opened <- a.Barrier() }()
	go func() { opened <- b.Barrier() }()
	for s.Waiting() < 2 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-opened:
		t.Fatal("the barrier opened without process 2")
	default:
	}
	s.Gone(2)
	within(t, "the barrier", func() {
		for range 2 {
			if err := <-opened; err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := a.Get("address-2"); !errors.Is(err, ErrNoKey) {
		t.Errorf("got %v for the key of the dead, want ErrNoKey", err)
	}
}

// A process that dies inside the barrier counts neither as in it nor as missing.
func TestDeathInsideBarrier(t *testing.T) {
	s := NewServer(3, "job", noAbort)
	a, b, c := dial(t, s, 0, 3), dial(t, s, 1, 3), dial(t, s, 2, 3)
	go b.Barrier()
	for s.Waiting() < 1 {
		time.Sleep(time.Millisecond)
	}
	s.Gone(1)
	opened := make(chan error, 2)
	go func() { opened <- a.Barrier() }()
	for s.Waiting() < 1 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-opened:
		t.Fatal("the barrier opened without process 2, which lives")
	case <-time.After(10 * time.Millisecond):
	}
	go func() { opened <- c.Barrier() }()
	within(t, "the barrier", func() { <-opened; <-opened })
}

func TestAbort(t *testing.T) {
	type abort struct {
		rank, code int
		message    string
	}
	got := make(chan abort, 1)
	s := NewServer(2, "job", func(rank, code int, message string) { got <- abort{rank, code, message} })
	c := dial(t, s, 1, 2)
	if err := c.Abort(7, "BANYAN_LUCK is out:\n100% (%5F) of it"); err != nil {
		t.Fatal(err)
	}
	within(t, "the abort", func() {
		if a := <-got; a != (abort{1, 7, "BANYAN_LUCK is out: 100% (%5F) of it"}) {
			t.Errorf("got %+v", a)
		}
	})
}

func TestRefusals(t *testing.T) {
	c := dial(t, NewServer(1, "job", noAbort), 0, 1)
	for _, kv := range [][2]string{
		{"", "v"}, {"a b", "v"}, {"a=b", "v"}, {"k", ""}, {"k", "a b"}, {"k", "a\nb"},
		{strings.Repeat("k", maxKey+1), "v"}, {"k", strings.Repeat("v", maxValue+1)},
	} {
		if err := c.Put(kv[0], kv[1]); err == nil {
			t.Errorf("Put(%.20q, %.20q) succeeded", kv[0], kv[1])
		}
	}
	if err := c.Put("k", strings.Repeat("v", maxValue)); err != nil {
		t.Errorf("the connection suffered: %v", err)
	}
}

func TestServerGone(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		s := newStream(far)
		server := NewServer(1, "job", noAbort)
		for range 3 { // the greeting
			q, _ := s.read()
			s.write(server.answer(0, q))
		}
		s.read()
		far.Close()
	}()
	c, err := NewClient(near, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "Barrier", func() {
		if err := c.Barrier(); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("got %v, want an error that says the server has gone", err)
		}
	})
}

func TestFromEnv(t *testing.T) {
	for _, name := range []string{"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE"} {
		t.Setenv(name, "")
	}
	if c, err := FromEnv(false); c != nil || err != nil {
		t.Fatalf("without a server got %v, %v", c, err)
	}

	t.Run("fd", func(t *testing.T) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		go NewServer(3, "job", noAbort).Serve(2, os.NewFile(uintptr(fds[0]), "server"))
		t.Setenv("PMI_FD", fmt.Sprint(fds[1]))
		t.Setenv("PMI_RANK", "2")
		t.Setenv("PMI_SIZE", "3")
		c, err := FromEnv(false)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Finalize()
		if c.Rank() != 2 || c.Size() != 3 {
			t.Errorf("process %d of %d, want 2 of 3", c.Rank(), c.Size())
		}
		if os.Getenv("PMI_FD") != "" {
			t.Error("the descriptor is offered to children")
		}
	})

	t.Run("port", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() { // as Hydra's proxy introduces itself
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s := newStream(conn)
			if q, err := s.read(); err != nil || q.String() != "cmd=initack pmiid=1" {
				t.Errorf("introduction %q, %v", q, err)
			}
			io.WriteString(conn, "cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n")
			NewServer(4, "job", noAbort).Serve(3, conn)
		}()
		t.Setenv("PMI_PORT", l.Addr().String())
		t.Setenv("PMI_ID", "1")
		within(t, "FromEnv", func() {
			c, err := FromEnv(false)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Finalize()
			if c.Rank() != 3 || c.Size() != 4 {
				t.Errorf("process %d of %d, want 3 of 4", c.Rank(), c.Size())
			}
		})
	})

	t.Run("bad", func(t *testing.T) {
		for _, fd := range []string{"x", "-1", "987654"} {
			t.Setenv("PMI_FD", fd)
			if c, err := FromEnv(false); err == nil {
				t.Errorf("PMI_FD=%s gave %v", fd, c)
			}
		}
	})
}

func FuzzParseLine(f *testing.F) {
	f.Add("cmd=get_result rc=0 msg=success value=a=b")
	f.Add("cmd=set size=3")
	f.Add("mcmd=spawn")
	f.Add("cmd= x")
	f.Fuzz(func(t *testing.T, s string) {
		l, err := parseLine(s)
		if err != nil {
			return
		}
		again, err := parseLine(l.String())
		if err != nil || again.String() != l.String() {
			t.Errorf("%q became %q, %v", l, again, err)
		}
	})
}

// FuzzServe sends bytes to a server, which must neither panic nor hang.
func FuzzServe(f *testing.F) {
	f.Add("cmd=init\ncmd=put key=a value=b\ncmd=get key=a\ncmd=abort exitcode=x\ncmd=finalize\n")
	f.Add("cmd=barrier_in\ncmd=barrier_in\n")
	f.Fuzz(func(t *testing.T, s string) {
		server := NewServer(1, "job", func(int, int, string) {})
		server.Serve(0, readWriter{strings.NewReader(s)})
	})
}

type readWriter struct{ io.Reader }

func (readWriter) Write(b []byte) (int, error) { return len(b), nil }
func (readWriter) Close() error                { return nil }
