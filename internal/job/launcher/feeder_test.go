package launcher

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
)

// asked is the input of a process that can be asked what it has read, and the process's end of it,
// from which the test reads in its place.
type asked struct {
	*os.File
	agent.Input
}

func (a asked) Read(b []byte) (int, error) { return a.File.Read(b) }

// askedPipe is a sink, and the process that it feeds.
func askedPipe(t *testing.T) (sink, asked) {
	t.Helper()
	local, err := agent.NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	procs, err := local.Start([]agent.Spec{{Path: "/bin/sleep", Argv: []string{"sleep", "1000"}, Env: []string{}, Input: agent.AskedInput}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { discard(procs[0]); local.Close() })
	their, err := os.Open(fmt.Sprintf("/proc/%d/fd/0", procs[0].PID()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { their.Close() })
	return sink{w: procs[0].Stdin()}, asked{their, procs[0].Stdin()}
}

// A replacement gets the input from its first byte on, and it is known how much each process has
// taken.
func TestFeederReplaces(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	first, in := askedPipe(t)
	input, typed := io.Pipe()
	f := newFeeder(1000, 1000, []sink{first})
	go f.run(input)
	typed.Write([]byte(text))
	taken := func(want int64) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			n, err := in.Taken()
			if n == want && err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes are taken, %v, want %d", n, err, want)
			}
		}
	}
	read := func(in io.Reader, want string) {
		t.Helper()
		b := make([]byte, len(want))
		if _, err := io.ReadFull(in, b); err != nil || string(b) != want {
			t.Fatalf("read %q, %v, want %q", b, err, want)
		}
	}
	taken(0)
	read(in, "one\n")
	taken(4)
	f.remove(0)
	var second sink
	second, in = askedPipe(t)
	if !f.replace(0, second, func() {}) {
		t.Fatal("not revived")
	}
	read(in, text)
	taken(int64(len(text)))
	typed.Write([]byte("four\n"))
	read(in, "four\n")
	typed.Close()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("then %q, %v", rest, err)
	}
	taken(int64(len(text)) + 5) // also when all has been written
	third, in := askedPipe(t)
	if !f.replace(0, third, func() {}) {
		t.Fatal("not revived")
	}
	if all, err := io.ReadAll(in); err != nil || string(all) != text+"four\n" {
		t.Errorf("the third gets %q, %v", all, err)
	}
}

// If the input is too long to be kept, no replacement can begin.
func TestFeederKeepsALimit(t *testing.T) {
	first, in := askedPipe(t)
	f := newFeeder(1000, 1000, []sink{first})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(strings.NewReader(strings.Repeat("x", 5000)))
	}()
	if all, err := io.ReadAll(in); err != nil || len(all) != 5000 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	<-done
	next, in := askedPipe(t)
	if f.replace(0, next, func() {}) {
		t.Error("revived")
	}
	if all, err := io.ReadAll(in); err != nil || len(all) > 0 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

// It is known how much a process has read even if its pipe is full. The process gets all of
// the rest.
func TestFeederKnowsOfAFullPipe(t *testing.T) {
	text := strings.Repeat("0123456789", 50_000)
	first, in := askedPipe(t)
	f := newFeeder(1<<20, 1<<20, []sink{first})
	go f.run(strings.NewReader(text))
	read := 0
	for _, n := range []int{0, 1, 5000, 70_000, 3, 200_000} {
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil || string(b) != text[read:read+n] {
			t.Fatalf("at %d: wrong bytes, %v", read, err)
		}
		read += n
		for range 3 {
			if got, err := in.Taken(); got != int64(read) || err != nil {
				t.Errorf("%d bytes are taken, %v, want %d", got, err, read)
			}
		}
	}
	if rest, err := io.ReadAll(in); err != nil || string(rest) != text[read:] {
		t.Errorf("then %d bytes, %v, want %d", len(rest), err, len(text)-read)
	}
}

// The input doesn't wait for a replacement that doesn't read yet. When too much would have to be
// kept for it, lost is called. A replacement that has caught up counts like the other sinks.
func TestFeederWithAReplacement(t *testing.T) {
	const kept = 1 << 20
	text := strings.Repeat("0123456789", kept/4)
	first, in := askedPipe(t)
	second, _ := askedPipe(t)
	f := newFeeder(1000, kept, []sink{first, second})
	input, typed := io.Pipe()
	go f.run(input)
	take := func(n int) {
		t.Helper()
		if n, err := io.CopyN(io.Discard, in, int64(n)); err != nil {
			t.Fatalf("%d bytes came, %v", n, err)
		}
	}
	f.remove(1)
	missed := make(chan bool, 1)
	next, replacement := askedPipe(t)
	if !f.replace(1, next, func() { missed <- true }) {
		t.Fatal("not revived")
	}
	go io.WriteString(typed, text)
	take(kept / 2) // far more than the replacement's pipe holds
	select {
	case <-missed:
		t.Fatal("given up already")
	default:
	}
	b := make([]byte, 100)
	if _, err := io.ReadFull(replacement, b); err != nil || string(b) != text[:100] {
		t.Errorf("the replacement gets %q, %v", b, err)
	}
	take(len(text) - kept/2)
	<-missed
}
