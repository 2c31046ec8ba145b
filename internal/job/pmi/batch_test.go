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
)

// counted counts the messages of a client.
type counted struct {
	io.ReadWriteCloser
	writes int
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes++
	return c.ReadWriteCloser.Write(b)
}

// dialAhead is dial for a client that counts its messages. ahead says that it asks several
// questions at once.
func dialAhead(t *testing.T, s *Server, rank, size int, ahead bool) (*Client, *counted) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(rank, os.NewFile(uintptr(fds[0]), "server"))
	conn := &counted{ReadWriteCloser: os.NewFile(uintptr(fds[1]), "client")}
	c, err := start(conn, newStream(conn), rank, size, ahead)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.conn.Close() })
	return c, conn
}

// Processes that ask by batches find each other, whether or not the server takes a batch at once.
func TestBatch(t *testing.T) {
	const n = 4
	for ahead, messages := range map[bool]int{true: 3, false: 12} {
		s := NewServer(n, "job", noAbort)
		s.MakeSecret()
		var all sync.WaitGroup
		for rank := range n {
			c, conn := dialAhead(t, s, rank, n, ahead)
			all.Go(func() {
				var secret, last, missing, own string
				var hosts []int32
				var unclear error
				program := -1
				ask := c.Batch()
				ask.Get(SecretKey, &secret)
				ask.Get("nobody's", &missing)
				ask.Hosts(&hosts, &unclear)
				ask.Program(&program)
				if err := ask.Ask(); err != nil || len(secret) != 2*secretSize || missing != "" || unclear != nil || len(hosts) != n || program != 0 {
					t.Errorf("process %d: %q, %q, %v, %v, %d: %v", rank, secret, missing, hosts, unclear, program, err)
				}
				ask = c.Batch()
				ask.Put(fmt.Sprint("card-", rank), fmt.Sprint("at=", rank))
				ask.Put("same", "value")
				ask.Get(fmt.Sprint("card-", rank), &own)
				ask.Barrier()
				ask.Get(fmt.Sprint("card-", (rank+1)%n), &last)
				if err := ask.Ask(); err != nil || own != fmt.Sprint("at=", rank) || last != fmt.Sprint("at=", (rank+1)%n) {
					t.Errorf("process %d: %q, %q: %v", rank, own, last, err)
				}
				if conn.writes != messages {
					t.Errorf("ahead %v: %d messages", ahead, conn.writes)
				}
			})
		}
		within(t, "the exchange", all.Wait)
	}
}

// A question that can't be asked keeps the whole batch from being asked. One that the server
// refuses doesn't hide the answers to others.
func TestBatchErrors(t *testing.T) {
	for _, ahead := range []bool{true, false} {
		s := NewServer(1, "job", noAbort)
		c, conn := dialAhead(t, s, 0, 1, ahead)
		before := conn.writes
		ask := c.Batch()
		ask.Put("k", "v")
		ask.Put("a b", "v")
		if err := ask.Ask(); err == nil || conn.writes != before {
			t.Errorf("%v, after %d messages", err, conn.writes-before)
		}
		var value string
		ask = c.Batch()
		ask.Put("k", "v")
		ask.add(newLine("spawn"), "spawn_result", nil)
		ask.Get("k", &value)
		var r *refusal
		if err := ask.Ask(); !errors.As(err, &r) || ahead && value != "v" {
			t.Errorf("%v, %q", err, value)
		}
		if got, err := c.Get("k"); got != "v" || err != nil {
			t.Errorf("afterwards %q, %v", got, err)
		}
	}
}

// A server that goes in the middle of a batch ends it.
func TestServerGoesInBatch(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		s := newStream(far)
		server := NewServer(1, "job", noAbort)
		for range 4 { // the greeting, and one more
			q, _ := s.read()
			s.write(server.answer(0, q))
		}
		far.Close()
	}()
	c, err := start(near, newStream(near), 0, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	c.ahead = true
	ask := c.Batch()
	ask.Put("k", "v")
	ask.Barrier()
	within(t, "the batch", func() {
		if err := ask.Ask(); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("got %v, want an error that says the server has gone", err)
		}
	})
}

// Before it aborts, a process may have asked what is still to be answered.
func TestAbortBehindBatch(t *testing.T) {
	s := NewServer(1, "job", func(int, int, string) {})
	near, far := net.Pipe()
	go s.Serve(0, far)
	within(t, "the answer", func() {
		go near.Write([]byte("cmd=get_appnum\ncmd=abort exitcode=1\n"))
		if l, err := newStream(near).read(); err != nil || l.cmd != "appnum" {
			t.Errorf("%v, %v", l, err)
		}
	})
	near.Close()
}
