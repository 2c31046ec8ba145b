package mesh

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
)

var testSecret = []byte("0123456789abcdef0123456789abcdef")

func testParty(self proto.Proc) *party {
	return &party{
		protocol: handshake.Job, self: self, incarnation: 10 + proto.Incarnation(self), job: [16]byte{7}, secret: testSecret,
		host: [32]byte{1}, pid: 100 + int(self), start: 5,
	}
}

// always is a judge of one mind.
func always(v verdict) func(*hello) verdict { return func(*hello) verdict { return v } }

// outcome is what the two ends of a handshake came to.
type outcome struct {
	dialled, accepted  verdict
	dialErr, acceptErr error
	hello              *hello
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
		o.hello, o.accepted, _, o.acceptErr = acceptor.accept(far, judge)
	}()
	o.dialled, _, _, o.dialErr = dialler.dial(near, to.self, to.incarnation, why, seal.Never)
	near.Close()
	<-done
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

// A stranger that a process dials sends that process's words back to the process itself, as another
// dialler. It gets nothing: the hello names its receiver.
func TestReflectionFails(t *testing.T) {
	b := testParty(2)
	b.standing = func() standing { t.Error("b answers itself"); return standing{} }
	o := shake(b, b, testParty(1), toConnect, func(h *hello) verdict { t.Errorf("b judges its own %+v", h); return accepted })
	if !errors.Is(o.acceptErr, errElsewhere) || o.dialErr == nil || o.accepted != 0 || o.dialled != 0 {
		t.Errorf("got %+v", o)
	}
}

// A hello with an incarnation that is too large for one isn't meant for anybody.
func TestMalformedHello(t *testing.T) {
	for _, at := range []int{28 + 4, 36 + 7} {
		near, far := net.Pipe()
		deadline := time.Now().Add(10 * time.Second)
		near.SetDeadline(deadline)
		far.SetDeadline(deadline)
		go func() {
			defer near.Close()
			b := (&hello{purpose: toConnect, job: [16]byte{7}, from: 1, to: 2, toIncarnation: 12}).encode()
			b[at] = 1
			handshake.Job.Dial(near, testSecret, b)
		}()
		_, v, _, err := testParty(2).accept(far, func(h *hello) verdict { t.Errorf("judged %+v", h); return accepted })
		if !errors.Is(err, errMalformed) || v != 0 {
			t.Errorf("byte %d: %v, %v", at, v, err)
		}
		far.Close()
	}
}

// A change on the way to any byte of a hello is noticed.
func TestTamperingFails(t *testing.T) {
	a, b := testParty(1), testParty(2)
	for at := range 12 + helloSize + 32 {
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
		a.dial(&tamper{Conn: near, at: at}, 2, 12, toConnect, seal.Never)
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
