package remote

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
)

// A testimony ends the host of the agent that it is about, and of no other.
func TestTestimony(t *testing.T) {
	l := listen(t, Options{})
	charges := make(chan Testimony, 1)
	go Serve(t.Context(), Config{Addresses: l.Addresses(), Number: 3, Key: l.key, Agent: newFake("h"), Charge: func(c Testimony) { charges <- c }})
	r, err := l.Expect(soon(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	charge := <-charges
	read, err := ReadTestimony(bytes.NewReader(append(charge.Line(), "more"...)))
	if err != nil {
		t.Fatal(err)
	}
	certain := make(chan struct{})
	close(certain)
	other := read
	other.Instance++
	if err := other.Give(soon(t), certain, "so"); err == nil || !strings.Contains(err.Error(), "doesn't know it") || r.Reason() != "" {
		t.Errorf("of another instance: %v, lost because %q", err, r.Reason())
	}
	stranger := read
	stranger.Key = secure.NewKey()
	if err := stranger.Give(soon(t), certain, "so"); err == nil || r.Reason() != "" {
		t.Errorf("with another key: %v, lost because %q", err, r.Reason())
	}
	if err := read.Give(soon(t), certain, "somehow"); err != nil {
		t.Error(err)
	}
	<-r.Lost()
	if !r.Reaped() || !strings.Contains(r.Reason(), "died with its processes: somehow") {
		t.Error(r.Reason())
	}
	if _, err := r.Start([]agent.Spec{{Path: "p"}}); err != agent.ErrHostLost {
		t.Error(err)
	}
}

// A testimony is heard as soon as the agent's death is certain and its connection has broken: the
// guard has connected before, and nothing waits for a timer.
func TestTestimonyWaitsForNothing(t *testing.T) {
	r := newRig(t, Options{rest: time.Hour})
	way := newProxy(t, r.Addresses()[0])
	said := Testimony{Addresses: []string{way.address()}, Number: 1, Instance: r.remote.instance, Key: r.key}
	certain, given := make(chan struct{}), make(chan error, 1)
	go func() { given <- said.Give(soon(t), certain, "somehow") }()
	until(t, "the guard connects", func() bool { return way.connections() == 1 })
	r.proxy.block() // the agent doesn't come again
	r.proxy.cut(true)
	select {
	case <-r.remote.Lost():
		t.Fatal("the host is lost before that is certain")
	case <-time.After(10 * time.Millisecond):
	}
	close(certain)
	<-r.remote.Lost()
	if err := <-given; err != nil || !r.remote.Reaped() {
		t.Errorf("%v, %s", err, r.remote.Reason())
	}
}

// A parent that has connected beforehand needs no further connection. It is taken for no agent, and
// one that the launcher doesn't know is refused.
func TestStandingTestimony(t *testing.T) {
	r := newRig(t, Options{rest: time.Hour})
	way := newProxy(t, r.Addresses()[0])
	said := Testimony{Addresses: []string{way.address()}, Number: 1, Instance: r.remote.instance, Key: r.key}
	other := said
	other.Instance++
	if _, err := other.Stand(soon(t)); err == nil || !strings.Contains(err.Error(), "doesn't know it") {
		t.Error(err)
	}
	idle, err := said.Stand(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	idle.Close() // as of an agent that ends in order
	s, err := said.Stand(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	way.socket.Close()
	r.proxy.block() // the agent doesn't come again
	r.proxy.cut(true)
	select {
	case <-r.remote.Lost():
		t.Fatal("the host is lost before its agent is")
	case <-time.After(10 * time.Millisecond):
	}
	if err := s.Give(soon(t), "somehow"); err != nil {
		t.Error(err)
	}
	<-r.remote.Lost()
	if !r.remote.Reaped() || !strings.Contains(r.remote.Reason(), "died with its processes: somehow") {
		t.Error(r.remote.Reason())
	}
}

// A parent that stands by and then says that it does so, in place of a death, is a stranger.
func TestStandsTwice(t *testing.T) {
	r := newRig(t, Options{})
	said := Testimony{Addresses: r.Addresses(), Number: 1, Instance: r.remote.instance, Key: r.key}
	s, err := said.Stand(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	again := wire.Greeting{Version: wire.Version, Build: s.dialler.build, Instance: said.Instance, Stands: true}
	if _, err := s.dialler.greet(soon(t), s.conn.Conn, again); err == nil || r.remote.Reason() != "" {
		t.Errorf("%v; the host is lost because %q", err, r.remote.Reason())
	}
}

// An agent dies before it comes to a launcher that takes over. Its guard's word is enough: that
// launcher goes on without the host.
func TestDiesBeforeItComes(t *testing.T) {
	k := secure.NewKey()
	l, err := Listen("127.0.0.1:0", k, Options{Term: 2, Adopt: true, Verdicts: true, Known: map[int]uint64{1: 77}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	certain := make(chan struct{})
	close(certain)
	if err := (Testimony{Addresses: l.Addresses(), Number: 1, Instance: 77, Key: k}).Give(soon(t), certain, "somehow"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Expect(soon(t), 1); !errors.Is(err, agent.ErrHostLost) || !strings.Contains(err.Error(), "agent 1 has died with its processes: somehow") {
		t.Error(err)
	}
}

func FuzzTestimony(f *testing.F) {
	f.Add(Testimony{Addresses: []string{"a:1"}, Number: 2, Instance: 3, Key: secure.NewKey()}.Line())
	f.Add([]byte("99999999{"))
	f.Fuzz(func(t *testing.T, b []byte) { ReadTestimony(bytes.NewReader(b)) })
}
