package output

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorder records what is printed. It may be read meanwhile.
type recorder struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// await waits until the recorder has exactly want.
func (r *recorder) await(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); r.String() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %q, want %q", r.String(), want)
		}
	}
}

func died() bool { return false }
func left() bool { return true }

// The output of a replica that is too far ahead of the leader is taken if a replacement waits for
// its end.
func TestHurry(t *testing.T) {
	var shown recorder
	c := NewCollector(Config{
		Replicas: 3, Keep: 100, Delay: time.Millisecond,
		Print: func(b []byte) { shown.Write(b) }, Diverged: func(*Difference, int) {},
	})
	text := strings.Repeat("a line of the output\n", 100)
	from, to := io.Pipe()
	go c.Copy(1, from, died)
	written := make(chan bool)
	go func() {
		io.WriteString(to, text)
		io.WriteString(to, text)
		close(written)
	}()
	select {
	case <-written:
		t.Fatal("it takes more than it may keep")
	case <-time.After(20 * time.Millisecond):
	}
	c.Hurry(1, true)
	select {
	case <-written:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the leader")
	}
	c.Hurry(1, false)
	c.Copy(0, strings.NewReader(""), died) // the leader dies
	shown.await(t, text+text)
}

// Pipes of processes that die at random bytes still give the text once.
func TestCollectorThroughPipes(t *testing.T) {
	var text bytes.Buffer
	for n := range 5000 {
		fmt.Fprintf(&text, "line %d of the output\n", n)
	}
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var shown recorder
		c := NewCollector(Config{
			Replicas: 3, Keep: 4096, Delay: time.Millisecond,
			Print:    func(b []byte) { shown.Write(b) },
			Diverged: func(d *Difference, _ int) { t.Errorf("diverged in line %d", d.Line) },
		})
		var wg sync.WaitGroup
		for i := range 3 {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cut, how := text.Len(), left
			if i < 2 { // replica 2 survives
				cut, how = rng.IntN(text.Len()), died
			}
			go func() {
				w.Write(text.Bytes()[:cut])
				w.Close()
			}()
			wg.Go(func() { c.Copy(i, r, how); r.Close() })
		}
		wg.Wait()
		if shown.String() != text.String() {
			t.Fatalf("seed %d: %d bytes were shown, want %d", seed, len(shown.String()), text.Len())
		}
	}
}

// A prompt appears although the other replica keeps writing and no line end follows.
func TestPromptAppears(t *testing.T) {
	var shown recorder
	c := NewCollector(Config{Replicas: 2, Keep: 1 << 20, Delay: 20 * time.Millisecond,
		Print: func(b []byte) { shown.Write(b) }, Diverged: func(*Difference, int) {}})
	leader, leaderIn := io.Pipe()
	other, otherIn := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { c.Copy(0, leader, left) })
	wg.Go(func() { c.Copy(1, other, left) })
	stop := make(chan struct{})
	wg.Go(func() {
		defer otherIn.Close()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				otherIn.Write([]byte("x"))
			}
		}
	})
	leaderIn.Write([]byte("name? "))
	shown.await(t, "name? ")
	leaderIn.Close()
	close(stop)
	wg.Wait()
}

// A line that a leader left unfinished isn't shown before it is known how the leader ended.
func TestEndIsAwaited(t *testing.T) {
	var shown recorder
	var told []string
	c := NewCollector(Config{Replicas: 2, Keep: 1 << 20, Delay: time.Millisecond,
		Print:    func(b []byte) { shown.Write(b) },
		Diverged: func(d *Difference, leader int) { told = append(told, fmt.Sprint(d.Line, leader)) }})
	known := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.Copy(0, strings.NewReader("1\nat 1s"), func() bool { <-known; return false }) })
	shown.await(t, "1\n")
	time.Sleep(10 * time.Millisecond)
	if s := shown.String(); s != "1\n" {
		t.Errorf("shown %q", s)
	}
	wg.Go(func() { c.Copy(1, strings.NewReader("1!\nat 1.1s\nend\n"), left) })
	close(known)
	wg.Wait()
	if s := shown.String(); s != "1\nat 1.1s\nend\n" {
		t.Errorf("shown %q", s)
	}
	if len(told) != 1 {
		t.Errorf("the difference was told %d times: %q", len(told), told)
	}
}
