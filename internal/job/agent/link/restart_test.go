package link

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"banyan/internal/job/agent/wire"
)

// Another party takes the other side's place in the middle of a stream: it gets what the first had
// not released, though that had read more. What isn't to stay ends at once.
func TestRestart(t *testing.T) {
	here := New(time.Minute, nil)
	output, words := wire.Stream{Proc: 1, Channel: wire.Stdout}, wire.Stream{Proc: 1, Channel: wire.Lifeline}
	out, lifeline := here.Out(output, true), here.Duplex(words, true)

	first := New(time.Minute, nil)
	in := first.In(output)
	in.Keep()
	carry(t, here, first)
	io.WriteString(out, "0123456789")
	b := make([]byte, 10)
	if _, err := io.ReadFull(in, b); err != nil {
		t.Fatal(err)
	}
	go in.Read(make([]byte, 1)) // what was read before counts as passed on now
	in.Release(4)
	for from, _ := out.Standing(); from != 4; from, _ = out.Standing() {
		time.Sleep(time.Millisecond)
	}

	first.End(errors.New("lost"))
	here.Restart(func(id wire.Stream) bool { return id == output })
	if _, err := lifeline.Write([]byte("x")); !errors.Is(err, ErrRestarted) {
		t.Error(err)
	}
	if _, err := lifeline.Read(b); !errors.Is(err, ErrRestarted) {
		t.Error(err)
	}
	io.WriteString(out, "ab")
	out.Close()

	second := New(time.Minute, nil)
	carry(t, here, second)
	from, over := out.Standing()
	if from != 4 || over {
		t.Fatal(from, over)
	}
	next := second.InFrom(output, from, over)
	out.GoOn()
	rest, err := io.ReadAll(next)
	if string(rest) != "456789ab" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	for _, over := out.Standing(); !over; _, over = out.Standing() {
		time.Sleep(time.Millisecond)
	}
}

// Readers and writers find out late that another party has taken the other side's place. Nothing
// that they do with their streams then is told to that party, which has streams of the same names
// and would take it for nonsense.
func TestRestartBehindTheBacksOfReaders(t *testing.T) {
	here, first := New(time.Minute, nil), New(time.Minute, nil)
	heard, unread, said := wire.Stream{Proc: 1, Channel: wire.Lifeline}, wire.Stream{Proc: 2, Channel: wire.Lifeline}, wire.Stream{Proc: 1, Channel: wire.PMI}
	oldHeard, oldUnread, oldSaid := here.In(heard), here.In(unread), here.Out(said, true)
	carry(t, here, first)
	for _, id := range []wire.Stream{heard, unread} {
		io.WriteString(first.Out(id, true), "0123")
	}
	for _, in := range []*In{oldHeard, oldUnread} {
		if _, err := io.ReadFull(in, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
	}
	first.End(errors.New("lost"))
	here.Restart(func(wire.Stream) bool { return false })

	second := New(time.Minute, nil)
	second.Out(heard, true)
	second.Out(unread, true)
	newSaid := second.In(said)
	ask, answer := wire.Stream{Proc: 3, Channel: wire.PMI}, wire.Stream{Proc: 3, Channel: wire.Lifeline}
	question, to := second.In(ask), here.Out(ask, true)
	reply, from := second.Out(answer, true), here.In(answer)
	x, y := net.Pipe()
	go here.Carry(x, wire.NewReader(x))
	broken := make(chan error, 1)
	go func() { broken <- second.Carry(y, wire.NewReader(y)) }()
	defer y.Close()
	there := func() { // and back: what was said before has come
		t.Helper()
		go func() {
			io.WriteString(to, "?")
			io.ReadFull(question, make([]byte, 1))
			io.WriteString(reply, "!")
		}()
		came := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(from, make([]byte, 1))
			came <- err
		}()
		select {
		case err := <-broken:
			t.Fatalf("the connection has ended: %v", err)
		case err := <-came:
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	there()
	if _, err := oldHeard.Read(make([]byte, 1)); !errors.Is(err, ErrRestarted) {
		t.Error(err)
	}
	there()
	oldUnread.Close()
	there()
	oldSaid.Close()
	there()
	io.WriteString(here.Out(said, true), "x")
	if b, err := io.ReadAll(io.LimitReader(newSaid, 1)); string(b) != "x" {
		t.Errorf("%q has come, not what was said now: %v", b, err)
	}
}

// What isn't released is kept, and bounds what the writer may be ahead.
func TestKeep(t *testing.T) {
	here, there := New(time.Minute, nil), New(time.Minute, nil)
	id := wire.Stream{Proc: 1, Channel: wire.Stdout}
	out, in := here.Out(id, true), there.In(id)
	in.Keep()
	carry(t, here, there)
	wrote := make(chan struct{})
	go func() {
		out.Write(make([]byte, Window+1))
		close(wrote)
	}()
	if _, err := io.ReadFull(in, make([]byte, Window)); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, in)
	select {
	case <-wrote:
		t.Error("all was taken, and nothing released")
	case <-time.After(50 * time.Millisecond):
	}
	in.Release(1)
	<-wrote
}

// carry connects two sides until the test ends.
func carry(t *testing.T, a, b *Link) {
	x, y := net.Pipe()
	go a.Carry(x, wire.NewReader(x))
	go b.Carry(y, wire.NewReader(y))
	t.Cleanup(func() { x.Close(); y.Close() })
}
