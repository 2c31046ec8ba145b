package mesh

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/wire"
)

// The ends of a peer's rings are known from when there is a link until before it goes, and say
// whether frames wait for room in the ring.
func TestShare(t *testing.T) {
	c := newLocalJob(t, 2, nil)
	var ends atomic.Pointer[shm.Ends]
	c.transports[0].Share(func(p proto.Proc, at unsafe.Pointer) {
		if p != 1 {
			t.Errorf("%v has a link", p)
		}
		ends.Store((*shm.Ends)(at))
	})
	if c.transports[0].Linked(1) || ends.Load() != nil {
		t.Error("there is a link before there is a frame")
	}
	c.talk()
	if !c.transports[0].Linked(1) || ends.Load() != c.transports[0].peer(1).link.Ends {
		t.Error("the ends of the link aren't shared")
	}
	frame := make([]byte, transport.DirectSize)
	for number := uint64(2); c.transports[0].Queued(1) == 0; number++ { // number 1 is talk's
		if ends.Load().Queued() {
			t.Fatal("frames are said to wait")
		}
		c.transports[0].Send(1, &wire.Header{Kind: wire.KindEager, Seq: number, Total: uint64(len(frame))}, frame, 0)
	}
	if !ends.Load().Queued() {
		t.Error("frames wait, and nobody says so")
	}
	c.until("the frames leave", func() bool { return c.transports[0].Queued(1) == 0 })
	if ends.Load().Queued() {
		t.Error("frames are said to wait")
	}
	c.transports[0].Fence(1)
	if ends.Load() != nil {
		t.Error("the ends of a fenced peer are shared")
	}
}

// A nudge ends the wait of a peer, the present one or the next, and counts as something that has
// happened, once. Without a link there is no nudge.
func TestNudge(t *testing.T) {
	c := newLocalJob(t, 2, nil)
	if c.transports[0].Nudge(1) {
		t.Error("a process is nudged without a link")
	}
	c.talk()
	sleeper := c.transports[1]
	for !sleeper.mayWait() {
		sleeper.Poll(c.witnesses[1])
	}
	const long = 10 * time.Second
	for _, during := range []bool{false, true} {
		waited := make(chan time.Duration)
		wait := func() {
			start := time.Now()
			sleeper.Wait(long)
			waited <- time.Since(start)
		}
		if during {
			go wait()
			for !sleeper.poller.waiting.Load() {
				time.Sleep(time.Millisecond)
			}
		}
		if !c.transports[0].Nudge(1) {
			t.Fatal("there is a link, and no nudge")
		}
		if !during {
			go wait()
		}
		if took := <-waited; took >= long {
			t.Errorf("a nudge, during the wait: %v: doesn't end it", during)
		}
		if n := sleeper.Poll(c.witnesses[1]); n != 1 {
			t.Errorf("a nudge counts as %d", n)
		}
		if n := sleeper.Poll(c.witnesses[1]); n != 0 || !sleeper.mayWait() {
			t.Error("a nudge keeps its receiver from waiting again")
		}
	}
}
