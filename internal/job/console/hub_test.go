package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// screen is what a console shows. It may be read meanwhile.
type screen struct {
	mu    sync.Mutex
	b     bytes.Buffer
	stuck chan struct{} // a Write waits until it is closed; nil: none does
}

func (s *screen) Write(b []byte) (int, error) {
	if s.stuck != nil {
		<-s.stuck
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// patience bounds what a test waits for.
const patience = 30 * time.Second

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("waited in vain: ", what)
		}
	}
}

// shows is a console that shows a job in a test.
type shows struct {
	Console
	out, err screen
	conn     net.Conn
	ended    chan struct{}
	outcome  Outcome
	failed   error
}

// show attaches a console to a hub.
func show(t *testing.T, h *Hub, prepare func(*shows)) *shows {
	t.Helper()
	here, there, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Info{Name: "test-1"}, h)
	go s.Serve(there)
	c := &shows{conn: here, ended: make(chan struct{})}
	c.Stdout, c.Stderr = &c.out, &c.err
	welcome := make(chan struct{})
	c.Welcomed = func(Welcomed) { close(welcome) }
	if prepare != nil {
		prepare(c)
	}
	go func() {
		c.outcome, c.failed = c.Attach(here)
		close(c.ended)
	}()
	select {
	case <-welcome:
	case <-c.ended:
	case <-time.After(patience):
		t.Fatal("the console isn't attached")
	}
	t.Cleanup(func() {
		here.Close()
		c.wait(t)
		s.Close()
	})
	return c
}

func (c *shows) wait(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		t.Fatal("the console doesn't end")
	}
}

func TestShowToTheEnd(t *testing.T) {
	h := NewHub()
	c := show(t, h, func(c *shows) { c.Stdin = strings.NewReader(strings.Repeat("input ", 50_000)) })
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(io.MultiWriter(&text, h.Stdout()), "line %d of the output\n", i)
	}
	fmt.Fprint(h.Stderr(), "a message\n")
	got, err := io.ReadAll(h.Stdin())
	if err != nil || string(got) != strings.Repeat("input ", 50_000) {
		t.Errorf("%d bytes of input, %v", len(got), err)
	}
	if !h.End(7) {
		t.Error("the end wasn't shown")
	}
	c.wait(t)
	if c.failed != nil || !c.outcome.Ended || c.outcome.Code != 7 || c.outcome.Job != "test-1" {
		t.Errorf("%+v %v", c.outcome, c.failed)
	}
	if c.out.String() != text.String() || c.err.String() != "a message\n" {
		t.Errorf("shown: %d bytes, %q", len(c.out.String()), c.err.String())
	}
	if _, err := h.Stdout().Write([]byte("x")); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// The second console watches, and becomes no owner when the first one goes; the third one does.
func TestOneOwner(t *testing.T) {
	h := NewHub()
	signals := make(chan os.Signal, 1)
	first := show(t, h, func(c *shows) { c.Signals = signals })
	second := show(t, h, nil)
	watcher := show(t, h, func(c *shows) { c.Watch = true })
	if !first.welcome.Owner || second.welcome.Owner || watcher.welcome.Owner || h.consoles() != 3 {
		t.Error("owners:", first.welcome.Owner, second.welcome.Owner, watcher.welcome.Owner, h.consoles())
	}
	signals <- syscall.SIGINT
	if s := <-h.Signals(); s != syscall.SIGINT {
		t.Error(s)
	}
	fmt.Fprint(h.Stdout(), "for all\n")
	for _, c := range []*shows{first, second, watcher} {
		await(t, "output", func() bool { return c.out.String() == "for all\n" })
	}
	h.Started()
	first.conn.Close()
	first.wait(t)
	if !errors.Is(first.failed, ErrLauncherGone) {
		t.Error(first.failed)
	}
	third := show(t, h, nil)
	if !third.welcome.Owner {
		t.Errorf("%+v", third.welcome)
	}
	// A console that only watches mustn't send signals.
	second.l.send(&Frame{Kind: Signal, Number: 9}, Silence)
	second.wait(t)
	select {
	case s := <-h.Signals():
		t.Error("a watcher has sent", s)
	default:
	}
	fmt.Fprint(h.Stdout(), "more\n")
	h.End(0)
	third.wait(t)
	watcher.wait(t)
	if third.out.String() != "more\n" || watcher.out.String() != "for all\nmore\n" || !watcher.outcome.Ended {
		t.Errorf("%q %q", third.out.String(), watcher.out.String())
	}
}

// A console that doesn't get on keeps the job waiting, when it owes a megabyte. Without a console
// more is kept.
func TestBackPressure(t *testing.T) {
	h := NewHub()
	stuck := make(chan struct{})
	c := show(t, h, func(c *shows) { c.out.stuck = stuck })
	wrote := make(chan int, 1)
	large := unattendedLimit / 2
	go func() {
		n, _ := h.Stdout().Write(make([]byte, large))
		wrote <- n
	}()
	await(t, "a full hub", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.streams[Stdout].room(attendedLimit) == 0
	})
	select {
	case <-wrote:
		t.Fatal("the job doesn't wait")
	case <-time.After(20 * time.Millisecond):
	}
	c.conn.Close()
	if n := <-wrote; n != large {
		t.Error(n)
	}
	close(stuck)
	c.wait(t)
	go func() {
		n, _ := h.Stdout().Write(make([]byte, unattendedLimit))
		wrote <- n
	}()
	await(t, "a full hub", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.streams[Stdout].room(unattendedLimit) == 0
	})
	if h.End(0) {
		t.Error("the end was shown to nobody")
	}
	if n := <-wrote; n == unattendedLimit {
		t.Error("after the end the Write has written", n)
	}
}

func TestUntilStartedAndLeave(t *testing.T) {
	h := NewHub()
	c := show(t, h, func(c *shows) { c.UntilStarted = true })
	fmt.Fprint(h.Stderr(), "a host is late\n")
	fmt.Fprint(h.Stdout(), "for the next console\n")
	await(t, "the message", func() bool { return c.err.String() != "" })
	h.Started()
	fmt.Fprint(h.Stderr(), "this, too\n")
	c.wait(t)
	if c.out.String() != "" {
		t.Errorf("a console that goes at once shows %q", c.out.String())
	}
	if !c.outcome.Started || c.failed != nil || c.err.String() != "a host is late\n" {
		t.Errorf("%+v %v %q", c.outcome, c.failed, c.err.String())
	}
	next := show(t, h, nil)
	await(t, "the output", func() bool {
		return next.out.String() == "for the next console\n" && next.err.String() == "this, too\n"
	})
	next.conn.Close()
	next.wait(t)
	leave := make(chan struct{})
	c = show(t, h, func(c *shows) { c.Leave = leave })
	close(leave)
	c.wait(t)
	if !c.outcome.Left || c.failed != nil {
		t.Errorf("%+v %v", c.outcome, c.failed)
	}
}

// A console that was taken for dead goes on where it was.
func TestAttachAgain(t *testing.T) {
	h := NewHub()
	in, give := io.Pipe()
	c := show(t, h, func(c *shows) { c.Stdin = in })
	fmt.Fprint(h.Stdout(), "one ")
	give.Write([]byte("first "))
	await(t, "output", func() bool { return c.out.String() == "one " })
	got := make([]byte, 6)
	io.ReadFull(h.Stdin(), got)
	c.conn.Close()
	c.wait(t)
	fmt.Fprint(h.Stdout(), "two")
	here, there, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Info{Name: "test-1"}, h)
	defer s.Close()
	go s.Serve(there)
	c.Welcomed = nil
	c.ended = make(chan struct{})
	go func() { c.outcome, c.failed = c.Attach(here); close(c.ended) }()
	give.Write([]byte("second"))
	if io.ReadFull(h.Stdin(), got); string(got) != "second" {
		t.Errorf("%q", got)
	}
	h.End(3)
	c.wait(t)
	if c.out.String() != "one two" || c.outcome.Code != 3 {
		t.Errorf("%q %+v", c.out.String(), c.outcome)
	}
}

// Consoles that write a file are cut off at random moments. The file has everything once.
func TestFileExactlyOnce(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 0))
		h := NewHub()
		path := filepath.Join(t.TempDir(), "out")
		os.WriteFile(path, []byte("was there\n"), 0o600)
		text := strings.Builder{}
		text.WriteString("was there\n")
		for i := range 20_000 {
			fmt.Fprintf(&text, "%d: line %d\n", seed, i)
		}
		calm := make(chan struct{}) // closed when no console is cut off any more
		go func() {
			screen, at := h.Screen(false), int64(0)
			for rest := text.String()[10:]; rest != ""; {
				n := min(len(rest), 1+rng.IntN(3000))
				screen.Print(0, false, at, []byte(rest[:n]))
				rest, at = rest[n:], at+int64(n)
			}
			<-calm
			h.End(0)
		}()
		cuts := rand.New(rand.NewPCG(seed, 1))
		for round, ended := 0, false; !ended; round++ {
			if round > 20 {
				t.Fatal("no end")
			}
			file, err := OpenFile(path, "test-1")
			if err != nil {
				t.Fatal(err)
			}
			here, there, err := pair()
			if err != nil {
				t.Fatal(err)
			}
			s := NewServer(Info{Name: "test-1"}, h)
			served := make(chan struct{})
			go func() { s.Serve(there); close(served) }()
			c := Console{Stdout: io.Discard, Stderr: io.Discard, File: file}
			if round < 20 {
				// The launcher doesn't hear the last acknowledgements.
				time.AfterFunc(time.Duration(cuts.IntN(2000))*time.Microsecond, func() { there.Close() })
			}
			c.Welcomed = func(Welcomed) {
				if round == 20 {
					close(calm)
				}
			}
			o, _ := c.Attach(here)
			ended = o.Ended
			<-served
			file.Close()
		}
		if b, _ := os.ReadFile(path); string(b) != text.String() {
			t.Fatalf("seed %d: the file has %d bytes, want %d", seed, len(b), text.Len())
		}
	}
}

func TestFileRefused(t *testing.T) {
	if _, err := OpenFile("/dev/null", "test-1"); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
	h := NewHub()
	show(t, h, nil)
	file, err := OpenFile(filepath.Join(t.TempDir(), "out"), "test-1")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if c := show(t, h, func(c *shows) { c.File = file }); c.failed == nil || !strings.Contains(c.failed.Error(), "another console shows the job") {
		t.Error(c.failed)
	}
}
