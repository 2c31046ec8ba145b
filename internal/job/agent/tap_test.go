package agent

import (
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// A tap is drained exactly when everything that was written has been passed on.
func TestTapDrained(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tap, err := newTap(r)
	if err != nil {
		t.Fatal(err)
	}
	var passed atomic.Int64
	done := make(chan error, 1)
	go func() {
		b := make([]byte, 1000)
		for {
			n, err := tap.Read(b)
			if n%7 == 0 {
				time.Sleep(time.Millisecond) // what was read isn't passed on yet
			}
			passed.Add(int64(n))
			if err != nil {
				done <- err
				return
			}
		}
	}()
	rng := rand.New(rand.NewPCG(1, 2))
	written := int64(0)
	for range 200 {
		n, err := w.Write(make([]byte, 1+rng.IntN(5000)))
		if err != nil {
			t.Fatal(err)
		}
		written += int64(n)
		for deadline := time.Now().Add(10 * time.Second); !tap.drained(); time.Sleep(10 * time.Microsecond) {
			if time.Now().After(deadline) {
				t.Fatal("never drained")
			}
		}
		if p := passed.Load(); p != written {
			t.Fatalf("drained after %d of %d bytes", p, written)
		}
	}
	w.Close()
	if err := <-done; err != io.EOF {
		t.Error(err)
	}
}
