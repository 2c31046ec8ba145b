package remote

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// fakePage is a Page that keeps what it hears.
type fakePage struct {
	heard chan string
	ask   func(request []byte) ([]byte, error)
}

func (p *fakePage) Show(words []byte, here string) ([]byte, error) {
	if string(words) == "bad" {
		return nil, errors.New("no port")
	}
	if net.ParseIP(here) == nil {
		return nil, errors.New("here is " + here)
	}
	return append([]byte("at "), words...), nil
}

func (p *fakePage) Asks(ask func(request []byte) ([]byte, error)) { p.ask = ask }

func (p *fakePage) Follow(from io.Reader) error {
	text, err := io.ReadAll(from)
	p.heard <- string(text)
	return err
}

// An agent with a page shows the job, and hears all that is said of it; one without says so.
func TestShow(t *testing.T) {
	l := listen(t, Options{})
	p := &fakePage{heard: make(chan string, 1)}
	go Serve(soon(t), Config{Addresses: l.Addresses(), Number: 1, Key: l.key, Agent: newFake("h1"), Page: p})
	r, err := l.Expect(soon(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Show([]byte("bad")); err == nil || err.Error() != "no port" {
		t.Errorf("a page that can't begin: %v", err)
	}
	if place, err := r.Show([]byte("x")); err != nil || string(place) != "at x" {
		t.Fatalf("%q %v", place, err)
	}
	to, text := r.Shown(), strings.Repeat("news\n", 100_000) // more than the window of a stream
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
	to.Close()
	select {
	case got := <-p.heard:
		if got != text {
			t.Errorf("%d bytes of %d were heard", len(got), len(text))
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing was heard")
	}
	r.Requests(func(request []byte) []byte { return append([]byte("done: "), request...) })
	if answer, err := p.ask([]byte("kill")); err != nil || string(answer) != "done: kill" {
		t.Errorf("a request from there: %q %v", answer, err)
	}
	if _, err := newRig(t, Options{}).remote.Show(nil); err == nil || !strings.Contains(err.Error(), "shows nothing") {
		t.Errorf("an agent without a page: %v", err)
	}
}
