package transporttest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

func testSizes(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	for _, borrow := range []bool{false, true} {
		for _, size := range sizes {
			nodes[0].send(1, size, borrow)
			nodes[1].send(0, size, borrow)
		}
	}
	want := uint64(2 * len(sizes))
	until(t, "all sizes have arrived", nodes, func() bool {
		return nodes[0].received[1] == want && nodes[1].received[0] == want && len(nodes[0].loans)+len(nodes[1].loans) == 0
	})
	settle(nodes)
	if nodes[0].received[1] != want || nodes[1].received[0] != want || nodes[0].closed[1]+nodes[1].closed[0] != 0 {
		t.Errorf("more came than was sent, or an end: %+v %+v", nodes[0], nodes[1])
	}
}

// A payload for which Dest returns nil is dropped, and nothing else is.
func testRefused(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	nodes[1].refuse = true
	for _, size := range sizes {
		nodes[0].send(1, size, true)
	}
	until(t, "all sizes have arrived", nodes, func() bool { return nodes[1].received[0] == uint64(len(sizes)) })
}

// All Procs send to all others, each on a goroutine of its own.
func testMix(t *testing.T, factory Factory) {
	const n, frames = 5, 150
	_, nodes := start(t, factory, n)
	var polling sync.WaitGroup
	var finished sync.WaitGroup
	finished.Add(n)
	for _, me := range nodes {
		polling.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(me.self)))
			whole := func() bool {
				for p := range n {
					if p != int(me.self) && (me.sent[p] < frames || me.received[p] < frames) {
						return false
					}
				}
				return len(me.loans) == 0
			}
			until(t, "all frames have arrived", []*node{me}, func() bool {
				if to := proto.Proc(rng.IntN(n)); to != me.self && me.sent[to] < frames {
					me.send(to, randomSize(rng), rng.IntN(2) == 0)
				}
				return whole()
			})
			finished.Done()
			// A Proc that has received all may still have queued frames for others.
			for p := range n {
				until(t, "the queue is empty", []*node{me}, func() bool { return me.tr.Queued(proto.Proc(p)) == 0 })
			}
		})
	}
	polling.Wait()
	finished.Wait()
}

// A sink may send.
func testEcho(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	const rounds = 200
	for _, n := range nodes {
		n.onFrame = func(from proto.Proc, h *wire.Header) {
			if n.sent[from] < rounds {
				n.send(from, int(n.sent[from]%7)*1000, n.sent[from]%2 == 0)
			}
		}
	}
	nodes[0].send(1, 5, false)
	until(t, "the ball came back", nodes, func() bool {
		return nodes[0].received[1] == rounds && nodes[1].received[0] == rounds
	})
}

// First contact from both sides at once loses nothing.
func testCrossing(t *testing.T, factory Factory) {
	const n, frames = 4, 20
	for range 5 {
		_, nodes := start(t, factory, n)
		var all sync.WaitGroup
		for _, me := range nodes {
			all.Go(func() {
				for range frames {
					for p := range proto.Proc(n) {
						if p != me.self {
							me.send(p, 100, false)
						}
					}
					me.poll()
				}
			})
		}
		all.Wait()
		until(t, "everybody heard everybody", nodes, func() bool {
			for _, me := range nodes {
				for p := range n {
					if p != int(me.self) && me.received[p] != frames {
						return false
					}
				}
			}
			return true
		})
	}
}

// A peer that takes nothing doesn't delay the others.
func testSlowPeer(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 3)
	sender, quick, slow := nodes[0], nodes[1], nodes[2]
	awake := nodes[:2]
	const large = 24
	for range large {
		sender.send(2, wire.MaxPayload, true)
		sender.send(2, 100, false)
	}
	for round := uint64(1); round <= 100; round++ {
		sender.send(1, 64, false)
		quick.send(0, 64, false)
		until(t, "the quick peer heard", awake, func() bool { return quick.received[0] == round && sender.received[1] == round })
	}
	if q := sender.tr.Queued(2); q < wire.MaxPayload {
		t.Errorf("%d bytes wait for the slow peer", q)
	}
	if q := sender.tr.Queued(1); q != 0 {
		t.Errorf("%d bytes wait for the quick peer", q)
	}
	until(t, "the slow peer has caught up", nodes, func() bool {
		return slow.received[0] == 2*large && len(sender.loans) == 0 && sender.tr.Queued(2) == 0
	})
}

// Send refuses an invalid header.
func testInvalidHeader(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	defer func() {
		if recover() == nil {
			t.Error("a heartbeat with a payload was sent")
		}
	}()
	nodes[0].tr.Send(1, &wire.Header{Kind: wire.KindHeartbeat}, []byte("x"), 0)
}
