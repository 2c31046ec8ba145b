package mesh

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"banyan/internal/proto"
)

var testSecret = []byte("0123456789abcdef0123456789abcdef")

func testParty(self proto.Proc) *party {
	return &party{
		self: self, incarnation: 10 + proto.Incarnation(self), job: [16]byte{7}, secret: testSecret,
		host: [32]byte{1}, pid: 100 + int(self), start: 5, min: 1, max: 3,
	}
}

// always is a judge of one mind.
func always(v verdict) func(*hello) verdict { return func(*hello) verdict { return v } }

// recorder keeps what goes each way.
type recorder struct {
	net.Conn
	written, read bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.written.Write(b)
	return r.Conn.Write(b)
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.read.Write(b[:n])
	return n, err
}

// outcome is what the two ends of a handshake came to.
type outcome struct {
	dialled, accepted   verdict
	dialErr, acceptErr  error
	hello               *hello
	toAcceptor, toDiall []byte
}

// shake runs a handshake between two parties.
func shake(dialler, acceptor *party, to *party, why purpose, judge func(*hello) verdict) outcome {
	near, far := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	near.SetDeadline(deadline)
	far.SetDeadline(deadline)
	var o outcome
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		o.hello, o.accepted, o.acceptErr = acceptor.accept(far, judge)
	}()
	rec := &recorder{Conn: near}
	o.dialled, _, o.dialErr = dialler.dial(rec, to.self, to.incarnation, why)
	near.Close()
	<-done
	o.toAcceptor, o.toDiall = rec.written.Bytes(), rec.read.Bytes()
	return o
}

func TestHandshake(t *testing.T) {
	a, b := testParty(1), testParty(2)
	for _, want := range []verdict{accepted, crossing, duplicate, goneHere, eviction} {
		o := shake(a, b, b, toConnect, always(want))
		if o.dialErr != nil || o.acceptErr != nil || o.dialled != want || o.accepted != want {
			t.Fatalf("%v: got %+v", want, o)
		}
		h := o.hello
		if h.from != 1 || h.fromIncarnation != 11 || h.pid != 101 || h.start != 5 || h.host != a.host || h.purpose != toConnect {
			t.Errorf("the acceptor heard %+v", h)
		}
		if len(o.toAcceptor)+len(o.toDiall) > 512 || bytes.Contains(append(o.toAcceptor, o.toDiall...), testSecret[:8]) {
			t.Errorf("%d and %d bytes were exchanged, or the secret", len(o.toAcceptor), len(o.toDiall))
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ min1, max1, min2, max2, want uint16 }{
		{1, 1, 1, 1, 1}, {1, 3, 2, 5, 3}, {2, 5, 1, 3, 3}, {1, 9, 4, 4, 4}, {1, 2, 3, 4, 0}, {3, 4, 1, 2, 0},
	} {
		if got := chooseVersion(c.min1, c.max1, c.min2, c.max2); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	old, young := testParty(1), testParty(2)
	young.min, young.max = 4, 6
	for _, o := range []outcome{shake(old, young, young, toConnect, always(accepted)), shake(young, old, old, toConnect, always(accepted))} {
		for _, err := range []error{o.dialErr, o.acceptErr} {
			if !errors.Is(err, errVersion) || !strings.Contains(err.Error(), "1 to 3") || !strings.Contains(err.Error(), "4 to 6") {
				t.Errorf("the error is %v", err)
			}
		}
	}
}

func TestHandshakeRefuses(t *testing.T) {
	judged := false
	judge := func(*hello) verdict { judged = true; return accepted }
	a, b := testParty(1), testParty(2)
	cases := map[string]func(dialler, acceptor, to *party){
		"wrong secret":        func(d, _, _ *party) { d.secret = []byte("another secret that is long") },
		"other job":           func(d, _, _ *party) { d.job[0]++ },
		"other process":       func(_, _, to *party) { to.self = 3 },
		"older incarnation":   func(_, _, to *party) { to.incarnation-- },
		"acceptor w/o secret": func(_, a, _ *party) { a.secret = []byte("a guess") },
	}
	for name, spoil := range cases {
		d, acc, to := *a, *b, *b
		spoil(&d, &acc, &to)
		o := shake(&d, &acc, &to, toConnect, judge)
		if o.acceptErr == nil || o.dialErr == nil || judged || o.accepted != 0 || o.dialled != 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// An acceptor that doesn't know the secret can't make up a verdict.
func TestForgedVerdict(t *testing.T) {
	near, far := net.Pipe()
	near.SetDeadline(time.Now().Add(10 * time.Second))
	go func() {
		defer far.Close()
		io.ReadFull(far, make([]byte, helloSize))
		challenge := make([]byte, challengeSize)
		copy(challenge, handshakeMagic[:])
		challenge[8], challenge[10], challenge[12] = 1, 3, 3
		far.Write(challenge)
		proof := make([]byte, proofSize)
		io.ReadFull(far, proof)
		far.Write(append([]byte{byte(accepted), 0, 0, 0, 0, 0, 0, 0}, proof...)) // the dialler's own, reflected
	}()
	if v, _, err := testParty(1).dial(near, 2, 12, toConnect); !errors.Is(err, errStranger) || v != 0 {
		t.Errorf("got %v, %v", v, err)
	}
	near.Close()
}

// play sends a script to an acceptor, and says whether it judged it.
func play(t *testing.T, acceptor *party, script func(conn net.Conn)) bool {
	t.Helper()
	near, far := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	near.SetDeadline(deadline)
	far.SetDeadline(deadline)
	done := make(chan struct{})
	judged := false
	go func() {
		defer close(done)
		defer far.Close()
		if _, _, err := acceptor.accept(far, func(*hello) verdict { judged = true; return accepted }); err == nil {
			t.Error("accepted")
		}
	}()
	script(near)
	near.Close()
	<-done
	return judged
}

func TestReplayFails(t *testing.T) {
	a, b := testParty(1), testParty(2)
	heard := shake(a, b, b, toConnect, always(accepted)).toAcceptor
	if play(t, b, func(conn net.Conn) {
		conn.Write(heard[:helloSize])
		io.ReadFull(conn, make([]byte, challengeSize))
		conn.Write(heard[helloSize:])
		io.ReadFull(conn, make([]byte, 1))
	}) {
		t.Error("a replayed proof was believed")
	}
}

// A stranger that plays an acceptor to b, who dials, and passes b's own words
// on to b the acceptor, gets nothing.
func TestReflectionFails(t *testing.T) {
	b := testParty(2)
	if play(t, b, func(conn net.Conn) {
		near, far := net.Pipe() // b dials near, we are far
		near.SetDeadline(time.Now().Add(10 * time.Second))
		dialled := make(chan struct{})
		go func() {
			defer close(dialled)
			b.dial(near, 1, 11, toConnect)
			near.Close()
		}()
		said := make([]byte, helloSize)
		io.ReadFull(far, said)
		conn.Write(said)
		challenge := make([]byte, challengeSize)
		io.ReadFull(conn, challenge)
		far.Write(challenge)
		proof := make([]byte, proofSize)
		io.ReadFull(far, proof)
		conn.Write(proof)
		io.ReadFull(conn, make([]byte, 1))
		far.Close()
		<-dialled
	}) {
		t.Error("b talks to itself")
	}
}

// Whatever is changed on the way is noticed.
func TestTamperingFails(t *testing.T) {
	a, b := testParty(1), testParty(2)
	for at := range helloSize {
		near, far := net.Pipe()
		deadline := time.Now().Add(10 * time.Second)
		near.SetDeadline(deadline)
		far.SetDeadline(deadline)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer far.Close()
			b.accept(far, func(h *hello) verdict { t.Errorf("byte %d changed: judged %+v", at, h); return accepted })
		}()
		a.dial(&tamper{Conn: near, at: at}, 2, 12, toConnect)
		near.Close()
		<-done
	}
}

// tamper changes one byte of what's written first.
type tamper struct {
	net.Conn
	at   int
	done bool
}

func (c *tamper) Write(b []byte) (int, error) {
	if !c.done {
		c.done = true
		b = bytes.Clone(b)
		b[c.at] ^= 0x80
	}
	return c.Conn.Write(b)
}

func FuzzHello(f *testing.F) {
	f.Add((&hello{from: 1, purpose: toAsk}).encode())
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h hello
		if h.decode(b) != nil {
			return
		}
		var again hello
		if err := again.decode(h.encode()); err != nil || again != h {
			t.Fatalf("%+v becomes %+v, %v", h, again, err)
		}
	})
}
