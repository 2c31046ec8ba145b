package transporttest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// A Proc that crashes at any point of its stream leaves a prefix of whole frames and one Closed,
// and all frames to it vanish.
func testCrash(t *testing.T, factory Factory) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(11, seed))
			job, nodes := start(t, factory, 3)
			dying, others := nodes[0], nodes[1:]
			for range rng.IntN(40) {
				dying.send(proto.Proc(1+rng.IntN(2)), randomSize(rng), rng.IntN(2) == 0)
				for _, n := range others {
					n.send(0, randomSize(rng), true)
				}
				if rng.IntN(3) == 0 {
					nodes[rng.IntN(3)].poll()
				}
			}
			// There is contact, so that there is an end to report.
			dying.send(1, 1, false)
			dying.send(2, 1, false)
			until(t, "all have met", nodes, func() bool {
				return others[0].received[0] > 0 && others[1].received[0] > 0
			})
			dying.send(proto.Proc(1+rng.IntN(2)), wire.MaxPayload, true)
			dying.send(proto.Proc(1+rng.IntN(2)), 10, false)
			job.Crash(0)
			until(t, "the end is told", others, func() bool { return others[0].closed[0] == 1 && others[1].closed[0] == 1 })
			for _, n := range others {
				if n.evidence[0] != job.Ended {
					t.Errorf("%v: evidence %v, want %v", n.self, n.evidence[0], job.Ended)
				}
				n.send(0, 100, false)
				n.send(0, wire.MaxPayload, true)
				if q := n.tr.Queued(0); q != 0 {
					t.Errorf("%v: %d bytes wait for the dead", n.self, q)
				}
			}
			others[0].send(2, 10, false)
			until(t, "the living talk, and loans are back", others, func() bool {
				return others[1].received[1] == 1 && len(others[0].loans)+len(others[1].loans) == 0
			})
			settle(others)
		})
	}
}

// A crash gives back the payloads that were borrowed for the dead Proc.
func testCrashWhileQueued(t *testing.T, factory Factory) {
	job, nodes := start(t, factory, 2)
	nodes[1].send(0, 1, false)
	until(t, "they have met", nodes, func() bool { return nodes[0].received[1] == 1 })
	for range 24 {
		nodes[0].send(1, wire.MaxPayload, true)
	}
	nodes[0].poll()
	if len(nodes[0].loans) == 0 {
		t.Fatal("24 MiB vanished into a peer that takes nothing")
	}
	job.Crash(1)
	until(t, "the end is told", nodes[:1], func() bool { return nodes[0].closed[1] == 1 })
	if len(nodes[0].loans) != 0 || nodes[0].tr.Queued(1) != 0 {
		t.Errorf("%d loans and %d bytes wait for the dead", len(nodes[0].loans), nodes[0].tr.Queued(1))
	}
}

func testFence(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 3)
	fencer, fenced, other := nodes[0], nodes[1], nodes[2]
	for _, n := range nodes[1:] {
		n.send(0, 10, false)
	}
	until(t, "they have met", nodes, func() bool { return fencer.received[1] == 1 && fencer.received[2] == 1 })
	for range 24 {
		fencer.send(1, wire.MaxPayload, true)
		fencer.poll()
	}
	fenced.send(0, wire.MaxPayload, true)
	before := fencer.received[1]
	fencer.tr.Fence(1)
	fencer.tr.Fence(1)
	fenced.send(0, 10, true)
	fencer.send(1, 10, true)
	if q := fencer.tr.Queued(1); q != 0 {
		t.Errorf("%d bytes wait for the fenced", q)
	}
	until(t, "the fenced peer is told", nodes, func() bool { return fenced.closed[0] == 1 && len(fencer.loans)+len(fenced.loans) == 0 })
	if fenced.evidence[0] != transport.EvidenceEviction {
		t.Errorf("the fenced peer is told %v", fenced.evidence[0])
	}
	other.send(0, 10, false)
	fencer.send(2, 10, false)
	until(t, "the others talk", nodes, func() bool { return fencer.received[2] == 2 && other.received[0] == 1 })
	settle(nodes)
	if fencer.received[1] != before || fencer.closed[1] != 0 {
		t.Errorf("after the fence %d frames and %d ends came through", fencer.received[1]-before, fencer.closed[1])
	}
}

func testFenceBeforeContact(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	nodes[0].tr.Fence(1)
	nodes[1].send(0, 10, true)
	until(t, "the fenced peer is told", nodes, func() bool { return nodes[1].closed[0] == 1 && len(nodes[1].loans) == 0 })
	if nodes[1].evidence[0] != transport.EvidenceEviction {
		t.Errorf("the fenced peer is told %v", nodes[1].evidence[0])
	}
	settle(nodes)
	if nodes[0].received[1] != 0 {
		t.Error("a frame came through the fence")
	}
}

// A sink that fences the sender of a frame gets nothing more from it.
func testFenceInsideSink(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	nodes[0].onFrame = func(from proto.Proc, h *wire.Header) {
		if h.Seq == 3 {
			nodes[0].tr.Fence(from)
		}
	}
	for range 10 {
		nodes[1].send(0, 10, false)
	}
	until(t, "the fenced peer is told", nodes, func() bool { return nodes[1].closed[0] == 1 })
	if nodes[0].received[1] != 3 {
		t.Errorf("%d frames came, the third fenced", nodes[0].received[1])
	}
}

// Drained frames arrive, even if their sender has ended with unread input, and the receiver is
// slow.
func testDrain(t *testing.T, factory Factory) {
	job, nodes := start(t, factory, 2)
	from, to := nodes[0], nodes[1]
	const frames = 2
	to.send(0, 100, false)
	until(t, "they have met", nodes, func() bool { return from.received[1] == 1 })
	to.send(0, 100, false)
	for range frames {
		from.send(1, wire.MaxPayload/2, false)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(5 * time.Millisecond)
		until(t, "the end is told", []*node{to}, func() bool { return to.closed[0] == 1 })
	}()
	from.tr.Drain(patience)
	if q := from.tr.Queued(1); q != 0 {
		t.Errorf("%d bytes wait after Drain", q)
	}
	if err := from.tr.Close(); err != nil {
		t.Error(err)
	}
	<-done
	if to.received[0] != frames || to.evidence[0] != job.Ended {
		t.Errorf("%d frames of %d, then %v", to.received[0], frames, to.evidence[0])
	}
}

func testCloseInTraffic(t *testing.T, factory Factory) {
	for seed := range uint64(5) {
		_, nodes := start(t, factory, 4)
		var all sync.WaitGroup
		for _, me := range nodes {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(13, seed*10+uint64(me.self)))
				waiting := make(chan struct{})
				go func() {
					defer close(waiting)
					me.tr.Wait(patience)
					me.tr.Wake()
				}()
				for range 50 + rng.IntN(200) {
					if to := proto.Proc(rng.IntN(4)); to != me.self {
						me.send(to, randomSize(rng), rng.IntN(2) == 0)
					}
					me.poll()
				}
				me.tr.Wake()
				<-waiting
				if err := me.tr.Close(); err != nil {
					t.Error(err)
				}
				if err := me.tr.Close(); err != nil {
					t.Errorf("closed twice: %v", err)
				}
				me.tr.Wake()
			})
		}
		all.Wait()
	}
}
