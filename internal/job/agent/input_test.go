package agent

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// How much a process has read is known at any moment when it doesn't read, also while a Write waits
// because its pipe is full. The process gets all of the rest.
func TestTakenOfAFullPipe(t *testing.T) {
	f := files{null: newLocal(t).null}
	in := f.input(true)
	if f.err != nil {
		t.Fatal(f.err)
	}
	theirs := pollable(int(f.theirs[0])) // any file would do
	defer theirs.Close()
	text := []byte(strings.Repeat("0123456789", 50_000))
	written := make(chan error, 1)
	go func() {
		n, err := in.Write(text)
		if err == nil && n != len(text) {
			err = io.ErrShortWrite
		}
		in.Close()
		written <- err
	}()
	read := 0
	taken := func() {
		t.Helper()
		for range 3 {
			if got, err := in.Taken(); got != int64(read) || err != nil {
				t.Errorf("%d bytes are taken, %v, want %d", got, err, read)
			}
		}
	}
	for _, n := range []int{0, 1, 5000, 70_000, 3, 200_000} {
		b := make([]byte, n)
		if _, err := io.ReadFull(theirs, b); err != nil || !bytes.Equal(b, text[read:read+n]) {
			t.Fatalf("at %d: wrong bytes, %v", read, err)
		}
		read += n
		taken()
	}
	rest, err := io.ReadAll(theirs)
	if err != nil || !bytes.Equal(rest, text[read:]) {
		t.Errorf("then %d bytes, %v, want %d", len(rest), err, len(text)-read)
	}
	read = len(text)
	taken() // also when all was written
	if err := <-written; err != nil {
		t.Error(err)
	}
	in.reaped()
	if _, err := in.Taken(); err == nil {
		t.Error("it is known after the process's end")
	}
}

// A Write that waits for a process that doesn't read ends when the input is closed. A Write to a
// process that has closed its stdin fails.
func TestWriteEnds(t *testing.T) {
	l := newLocal(t)
	s := script("sleep 100")
	s.Input = SomeInput
	p := started(t, l, s)
	done := make(chan error, 1)
	go func() { _, err := p.Stdin().Write(make([]byte, 1<<20)); done <- err }()
	time.Sleep(10 * time.Millisecond)
	if _, err := p.Stdin().Taken(); err == nil {
		t.Error("it says how much was read, though it wasn't to be asked")
	}
	p.Stdin().Close()
	if err := <-done; err == nil {
		t.Error("all was written")
	}
	s = script("exec <&-; echo closed; sleep 100")
	s.Input = SomeInput
	p = started(t, l, s)
	line(t, p.Stdout())
	if n, err := p.Stdin().Write([]byte("x")); err == nil {
		t.Errorf("%d bytes were written", n)
	}
}
