package engine

import (
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/inproc"
)

// While the program sleeps in a wait, the progress thread doesn't tick beside it. When the wait has
// ended, it makes progress again.
func TestProgressThreadRests(t *testing.T) {
	const context = 2
	net := inproc.NewNetwork(2)
	var both [2]*Engine
	for i := range both {
		both[i] = New(Config{Process: process.Config{
			Self: proto.Proc(i), Layout: layout.Uniform(2, 1), Period: 20e6, Timeout: 3600e9,
		}}, net.Endpoint(proto.Proc(i)))
		defer both[i].Close()
		if err := both[i].OpenContext(context, []proto.Rank{0, 1}, false); err != nil {
			t.Fatal(err)
		}
	}
	e := both[0]
	for round := range 3 {
		got := make(chan error)
		go func() {
			_, err := e.ReceiveWait(context, 1, 1, make([]byte, 1))
			got <- err
		}()
		await(t, e, "the progress thread rests", func() bool { return e.waiting.resting && e.waiting.waiters() == 1 })
		if polls := polled(e); round > 0 {
			await(t, e, "the thread that waits takes in heartbeats", func() bool { return e.waiting.polls > polls })
		}
		if err := both[1].SendWait(context, 0, 1, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		await(t, e, "the rest is over", func() bool { return !e.waiting.resting && e.waiting.threads == 0 })
		polls := polled(e)
		await(t, e, "the progress thread polls on", func() bool { return e.waiting.polls > polls })
	}
}

func polled(e *Engine) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting.polls
}

// await waits until something holds, under the lock.
func await(t *testing.T, e *Engine, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		e.mu.Lock()
		ok := holds()
		e.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it never happens that " + what)
		}
	}
}

// A thread that leaves a wait while another one waits tells the process that several do. A progress
// thread that rests is none of them.
func TestRestingIsNotWaiting(t *testing.T) {
	w := waiting{threads: 1, resting: true}
	if w.waiters() != 0 {
		t.Error("the progress thread counts as a waiter")
	}
	if w = (waiting{threads: 2}); w.waiters() != 2 {
		t.Error("a waiter is missing")
	}
}
