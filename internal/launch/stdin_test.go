package launch

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// inputPipe is a sink that can be asked what is taken, and the process's end of it.
func inputPipe(t *testing.T) (sink, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	raw, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return sink{w: w, far: raw}, r
}

// A newcomer gets the input from its first byte on, and what each has taken of it is known.
func TestFeederRevives(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	first, in := inputPipe(t)
	input, typed := io.Pipe()
	f := newFeeder(1000, true, []sink{first})
	go f.run(input)
	typed.Write([]byte(text))
	taken := func(want int64) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			n, ok := f.taken(0)
			if ok && n == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes are taken, %v, want %d", n, ok, want)
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
	second, in := inputPipe(t)
	if !f.revive(0, second) {
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
	third, in := inputPipe(t)
	if !f.revive(0, third) {
		t.Fatal("not revived")
	}
	if all, err := io.ReadAll(in); err != nil || string(all) != text+"four\n" {
		t.Errorf("the third gets %q, %v", all, err)
	}
}

// Where the input is too long to be kept, nobody can begin with it anew.
func TestFeederKeepsALimit(t *testing.T) {
	first, in := inputPipe(t)
	f := newFeeder(1000, true, []sink{first})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(strings.NewReader(strings.Repeat("x", 5000)))
	}()
	if all, err := io.ReadAll(in); err != nil || len(all) != 5000 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	<-done
	next, in := inputPipe(t)
	if f.revive(0, next) {
		t.Error("revived")
	}
	if all, err := io.ReadAll(in); err != nil || len(all) > 0 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
