package groupnode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// tap is somebody on the way to a member, who reads all that is said to it.
type tap struct {
	address string
	mu      sync.Mutex
	heard   bytes.Buffer
}

// newTap passes connections on to an address.
func newTap(t *testing.T, to string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{address: l.Addr().String()}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			all.Go(func() { p.pass(far, near, p) })
			all.Go(func() { p.pass(near, far, io.Discard) })
		}
	})
	return p
}

func (p *tap) pass(to, from net.Conn, also io.Writer) {
	io.Copy(io.MultiWriter(to, also), from)
	to.Close()
	from.Close()
}

func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.Write(b)
}

func (p *tap) has(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.heard.Bytes(), []byte(text))
}

// freeAddress is an address at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Somebody on the way to a member reads the view that has the member's own name, unless they
// encrypt.
func TestEncrypt(t *testing.T) {
	for _, encrypt := range []bool{false, true} {
		da, db := newViewLog(), newViewLog()
		a := testConfig("a", da)
		a.Encrypt = encrypt
		first := testJoin(t, a)
		b := testConfig("the second one", db, first.Card().Address)
		b.Encrypt, b.Listen = encrypt, freeAddress(t)
		way := newTap(t, b.Listen)
		b.Advertise = way.address
		testJoin(t, b)
		c := testConfig("c", newViewLog(), way.address)
		c.Encrypt = encrypt
		testJoin(t, c)
		da.await(t, 3)
		db.await(t, 3)
		if !way.has("BANYAN") { // a handshake
			t.Error("nothing goes by this way")
		}
		if reads := way.has("the second one"); reads == encrypt {
			t.Errorf("encrypt %v: they can be read: %v", encrypt, reads)
		}
	}
}

// Members that differ in it refuse each other.
func TestUnlikeEncrypt(t *testing.T) {
	a := testJoin(t, testConfig("a", newViewLog()))
	b := testConfig("b", newViewLog(), a.Card().Address)
	b.Encrypt = true
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if m, err := Join(ctx, b); !errors.Is(err, ErrRefused) {
		t.Error(err)
		if err == nil {
			m.Close()
		}
	}
}
