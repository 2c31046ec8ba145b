package port

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T) *Port {
	t.Helper()
	p, err := Open("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestCalls has several callers come, before and after the calls that accept them.
func TestCalls(t *testing.T) {
	p := open(t)
	const n = 6
	var all sync.WaitGroup
	heard := make(chan int, n)
	for i := range n {
		all.Go(func() {
			line, err := Call(p.Name(), time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			defer line.Close()
			var theirs int
			if err := line.Exchange(i, &theirs, time.Minute); err != nil || theirs != 100+i {
				t.Errorf("caller %d heard %d: %v", i, theirs, err)
			}
		})
		all.Go(func() {
			line, err := p.Accept(time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			defer line.Close()
			var who int
			if err := line.Hear(&who); err != nil {
				t.Error(err)
			}
			heard <- who
			if err := line.Say(100 + who); err != nil {
				t.Error(err)
			}
			line.Hear(&who) // until it has heard
		})
	}
	all.Wait()
	close(heard)
	seen := map[int]bool{}
	for who := range heard {
		seen[who] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d callers were accepted", len(seen), n)
	}
}

// TestGone has a caller give up before a call takes it: the next one gets the call.
func TestGone(t *testing.T) {
	p := open(t)
	if _, err := Call(p.Name(), 50*time.Millisecond); !errors.Is(err, ErrLate) {
		t.Fatalf("a caller that nobody accepts: %v", err)
	}
	go func() {
		if line, err := Call(p.Name(), time.Minute); err == nil {
			line.Say("second")
		}
	}()
	line, err := p.Accept(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	var who string
	if err := line.Hear(&who); err != nil || who != "second" {
		t.Errorf("heard %q: %v", who, err)
	}
}

// TestEnds has every wait end.
func TestEnds(t *testing.T) {
	p := open(t)
	if _, err := p.Accept(20 * time.Millisecond); !errors.Is(err, ErrLate) {
		t.Errorf("a call that nobody comes to: %v", err)
	}
	waits := make(chan error, 3)
	go func() { _, err := p.Accept(0); waits <- err }()
	time.Sleep(20 * time.Millisecond)
	p.Close()
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Errorf("a call at a port that is closed: %v", err)
	}
	if _, err := Call(p.Name(), 0); !errors.As(err, new(*NameError)) {
		t.Errorf("a caller at a closed port: %v", err)
	}
	if _, err := p.Accept(0); !errors.Is(err, ErrClosed) {
		t.Errorf("a call at a closed port: %v", err)
	}

	q := open(t)
	go func() { _, err := Call(q.Name(), 0); waits <- err }()
	for came := false; !came; time.Sleep(time.Millisecond) {
		q.mu.Lock()
		came = len(q.callers) > 0
		q.mu.Unlock()
	}
	q.Close()
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Errorf("a caller that waits at a port that is closed: %v", err)
	}
}

// A caller that proves the secret while the port closes, and doesn't hang up, holds nothing up.
func TestCloseWaitsForNoCaller(t *testing.T) {
	p := open(t)
	p.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	silent, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	p.serve(&caller{NewLine(conn), make(chan struct{})}) // Close waits for it
	if took := time.Since(begun); took > proofLimit/2 {
		t.Errorf("it took %v", took)
	}
	var w word
	if err := NewLine(silent).Hear(&w); err != nil || w.Kind != "refuse" {
		t.Errorf("the caller hears %q: %v", w.Kind, err)
	}
}

// TestStranger has one call that doesn't know the secret.
func TestStranger(t *testing.T) {
	p := open(t)
	n := p.name
	n.secret = bytes.Clone(n.secret)
	n.secret[0]++
	if _, err := Call(n.String(), time.Minute); !errors.As(err, new(*NameError)) {
		t.Errorf("a caller with another secret: %v", err)
	}
	if _, err := p.Accept(20 * time.Millisecond); !errors.Is(err, ErrLate) {
		t.Errorf("it was accepted: %v", err)
	}
}

// Names that aren't right are shown in errors without their secret: errors end in logs.
func TestSecretIsNotShown(t *testing.T) {
	secret := "c2VjcmV0c2VjcmV0c2VjcmU"
	for _, at := range []string{"banyan-port:127.0.0.1:1:" + secret, " banyan-port:127.0.0.1:1:" + secret[1:], "banyan-port::" + secret[1:], "port:" + secret} {
		_, err := Call(at, time.Minute)
		if !errors.As(err, new(*NameError)) {
			t.Errorf("%q: %v", at, err)
		} else if strings.Contains(err.Error(), secret[1:]) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add(name{"127.0.0.1:1", make([]byte, secretSize)}.String())
	f.Add("banyan-port:[::1]:7:AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("banyan-port::")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseName(s); err == nil && n.String() != s {
			t.Errorf("%q is read as %q", s, n)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add(append(binary.BigEndian.AppendUint32(nil, 16), `{"kind":"offer"}`...))
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(bytes.NewReader(b))
		if err != nil {
			return
		}
		var w word
		decode(m, &w)
	})
}

func TestLineEnds(t *testing.T) {
	a, b := net.Pipe()
	one, other := NewLine(a), NewLine(b)
	other.Close()
	if err := one.Hear(new(int)); !errors.Is(err, ErrEnded) {
		t.Errorf("a line whose other end has gone: %v", err)
	}
	if err := one.Say(1); err == nil {
		t.Error("it was said to nobody")
	}
}
