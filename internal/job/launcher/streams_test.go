package launcher

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// The output doesn't show that replicas were killed at random bytes of it.
func TestOutputExactlyOnce(t *testing.T) {
	for _, tc := range []struct{ ranks, replicas, dying int }{{1, 2, 1}, {2, 2, 1}, {1, 3, 2}} {
		for seed := range 4 {
			o := run(t, Config{Ranks: tc.ranks, Replicas: tc.replicas, Label: true}, "text", fmt.Sprint(tc.dying), fmt.Sprint(seed))
			if o.report.ExitCode != 0 {
				t.Fatalf("%+v: stderr %q", tc, o.stderr)
			}
			for rank := range tc.ranks {
				var own strings.Builder
				label := fmt.Sprintf("[%d] ", rank)
				for line := range strings.Lines(o.stdout) {
					if rest, ok := strings.CutPrefix(line, label); ok {
						own.WriteString(rest)
					}
				}
				if own.String() != testText(rank) {
					t.Errorf("%+v, seed %d: rank %d wrote %d bytes, want %d", tc, seed, rank, own.Len(), len(testText(rank)))
				}
			}
			if len(o.report.Deaths) != tc.dying*tc.ranks || len(o.report.Warnings) != 0 {
				t.Errorf("%+v: report %+v", tc, o.report)
			}
		}
	}
}

func TestDifferentOutputIsTold(t *testing.T) {
	o := run(t, Config{Ranks: 1, Replicas: 2}, "differ")
	if strings.Count(o.stdout, "of process 0\n") != 10 || strings.Count(o.stdout, "\n") != 10 {
		t.Errorf("stdout %q", o.stdout)
	}
	want := `banyan: the replicas of rank 0 write different bytes to stdout, first in line 1: "line 0 of process 0" was shown, replica 1 has "line 0 of process 1"; those of replica 0 are shown` + "\n"
	if o.stderr != want || len(o.report.Warnings) != 1 {
		t.Errorf("stderr %q, warnings %q", o.stderr, o.report.Warnings)
	}
}

// All replicas of rank 0 get the input, the other ranks get none, and a replica that reads nothing
// doesn't keep the others waiting.
func TestInput(t *testing.T) {
	b := make([]byte, 3<<20)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(b)
	input := string(b)
	for _, args := range [][]string{{"cat"}, {"cat", "0", "kill"}, {"cat", "1", "kill"}, {"cat", "0", "3"}} {
		o := run(t, Config{Ranks: 2, Replicas: 2, Stdin: strings.NewReader(input)}, args...)
		if o.report.ExitCode != 0 || o.stdout != input {
			t.Errorf("%v: %d bytes of %d came out; stderr %.1000q", args, len(o.stdout), len(input), o.stderr)
		}
		if !strings.Contains(o.stderr, fmt.Sprintf("%d bytes\n", len(input))) || !strings.Contains(o.stderr, "0 bytes\n") {
			t.Errorf("%v: stderr %.1000q", args, o.stderr)
		}
	}
}

// A job doesn't wait for input that its program doesn't read.
func TestInputNobodyReads(t *testing.T) {
	r, w := io.Pipe() // never ends
	defer w.Close()
	if o := run(t, Config{Replicas: 2, Stdin: r}, "print", "done\n"); o.stdout != "done\n" {
		t.Errorf("stdout %q", o.stdout)
	}
}

// A prompt without line end appears before it is answered.
func TestPrompt(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		answer, in := io.Pipe()
		var stdout lockedBuffer
		c := complete(Config{Ranks: 2, Replicas: replicas, Stdin: answer}, []string{"prompt"})
		c.Stdout, c.Stderr = &stdout, os.Stderr
		done := make(chan struct{})
		go func() { defer close(done); Run(c) }()
		await(t, "the prompt appears", func() bool { return stdout.String() == "name? " })
		io.WriteString(in, "world\n")
		in.Close()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the job hangs")
		}
		if stdout.String() != "name? hello world\n" {
			t.Errorf("got %q", stdout.String())
		}
	}
}

type slowSink struct {
	got    chan []byte
	closed chan struct{}
}

func (s *slowSink) Write(b []byte) (int, error) {
	select {
	case s.got <- append([]byte(nil), b...):
		return len(b), nil
	case <-s.closed:
		return 0, io.ErrClosedPipe
	}
}

func (s *slowSink) Close() error { close(s.closed); return nil }

// The slowest sink sets the pace, until it is removed.
func TestFeederWaitsForTheSlowest(t *testing.T) {
	fast, slow := &slowSink{make(chan []byte), make(chan struct{})}, &slowSink{make(chan []byte), make(chan struct{})}
	const limit = 100 << 10
	f := newFeeder(limit, 0, []sink{{w: fast}, {w: slow}})
	input := strings.Repeat("0123456789abcdef", 1<<16)
	go f.run(strings.NewReader(input))
	var got strings.Builder
	take := func(patience time.Duration) bool {
		select {
		case b := <-fast.got:
			got.Write(b)
			return true
		case <-fast.closed:
			return false
		case <-time.After(patience):
			return false
		}
	}
	for take(50 * time.Millisecond) {
	}
	if n := got.Len(); n < limit/2 || n > 2*limit {
		t.Fatalf("the fast sink got %d bytes though the slow one reads nothing", n)
	}
	f.remove(1)
	for take(20 * time.Second) {
	}
	if got.String() != input {
		t.Errorf("the fast sink got %d bytes, want %d", got.Len(), len(input))
	}
}
