// Package transporttest is the conformance suite that every transport passes:
// what package transport promises, and nothing that only one of them does.
package transporttest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/transport"
	"banyan/internal/wire"
)

// Job is the transports of a job's Procs, not yet used.
type Job struct {
	Procs []transport.Transport
	// Crash ends a Proc without notice, called by its owner between two calls.
	// What it had queued is lost.
	Crash func(p proto.Proc)
	// Ended is what its peers are told of a Proc that crashed or was closed.
	Ended transport.Evidence
}

// Factory makes a job of n Procs and closes it at the end of t.
type Factory func(t *testing.T, n int) *Job

// Run runs the suite.
func Run(t *testing.T, factory Factory) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, factory Factory)
	}{
		{"Sizes", testSizes},
		{"Refused", testRefused},
		{"Mix", testMix},
		{"Echo", testEcho},
		{"Crossing", testCrossing},
		{"SlowPeer", testSlowPeer},
		{"Crash", testCrash},
		{"CrashWhileQueued", testCrashWhileQueued},
		{"Fence", testFence},
		{"FenceBeforeContact", testFenceBeforeContact},
		{"FenceInsideSink", testFenceInsideSink},
		{"Wait", testWait},
		{"WaitBesideOthers", testWaitBesideOthers},
		{"Drain", testDrain},
		{"CloseInTraffic", testCloseInTraffic},
		{"InvalidHeader", testInvalidHeader},
		{"NoAllocation", testNoAllocation},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, factory) })
	}
}

func start(t *testing.T, factory Factory, n int) (*Job, []*node) {
	job := factory(t, n)
	nodes := make([]*node, n)
	for p, tr := range job.Procs {
		nodes[p] = newNode(t, proto.Proc(p), n, tr)
	}
	return job, nodes
}

var sizes = []int{0, 1, 8, 63, 64, 65, transport.DirectSize - 1, transport.DirectSize, transport.DirectSize + 1, 64 << 10, wire.MaxPayload - 1, wire.MaxPayload}

// randomSize draws from small frames mostly, large ones now and then.
func randomSize(rng *rand.Rand) int {
	switch rng.IntN(20) {
	case 0:
		return sizes[rng.IntN(len(sizes))]
	case 1, 2:
		return rng.IntN(3 * transport.DirectSize)
	}
	return rng.IntN(200)
}

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

// A payload that nobody wants is dropped, and nothing else with it.
func testRefused(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	nodes[1].refuse = true
	for _, size := range sizes {
		nodes[0].send(1, size, true)
	}
	until(t, "all sizes have arrived", nodes, func() bool { return nodes[1].received[0] == uint64(len(sizes)) })
}

// Everybody sends to everybody, each on a goroutine of its own.
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
			// Who has all may still owe others what waits in its queues.
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

// A peer that takes nothing holds up nobody but itself.
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

// A Proc that crashes at any point of its stream leaves a prefix of whole
// frames and one Closed, and everything sent to it vanishes.
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
			// Contact, so that there's something to be told the end of.
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

// A crash gives back what was borrowed for the dead.
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
	if fenced.evidence[0] != transport.EvidenceObituary {
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
	if nodes[1].evidence[0] != transport.EvidenceObituary {
		t.Errorf("the fenced peer is told %v", nodes[1].evidence[0])
	}
	settle(nodes)
	if nodes[0].received[1] != 0 {
		t.Error("a frame came through the fence")
	}
}

// A sink that fences the sender of a frame hears nothing more of it.
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

func testWait(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	me := nodes[0]
	settle(nodes)

	me.tr.Wake()
	me.tr.Wait(-1) // the Wake before it ends it

	woken := make(chan struct{})
	go func() {
		defer close(woken)
		time.Sleep(5 * time.Millisecond)
		me.tr.Wake()
	}()
	me.tr.Wait(-1)
	<-woken

	for range 3 { // it may return early, but not for ever
		me.tr.Wait(time.Millisecond)
	}
	me.tr.Wait(0)

	const frames = 50
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range frames {
			nodes[1].send(0, 10, false)
			for end := time.Now().Add(500 * time.Microsecond); time.Now().Before(end); {
				nodes[1].poll()
			}
		}
		until(t, "the queue is empty", nodes[1:], func() bool { return nodes[1].tr.Queued(0) == 0 })
	}()
	for me.received[1] < frames {
		me.tr.Wait(patience)
		me.poll()
	}
	<-done

	me.send(1, 10, true) // a loan that is due ends a Wait, too
	for len(me.loans) > 0 {
		me.tr.Wait(patience)
		me.poll()
	}
}

// Wait and Wake run beside the owner's calls, and a Wait sees what they change.
func testWaitBesideOthers(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	me, other := nodes[0], nodes[1]
	const frames = 300
	var lock sync.Mutex
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() { // the keeper
		for {
			select {
			case <-stop:
				return
			default:
			}
			me.tr.Wait(patience)
			lock.Lock()
			me.poll()
			lock.Unlock()
		}
	})
	all.Go(func() {
		until(t, "all frames have arrived", []*node{other}, func() bool {
			if other.sent[0] < frames {
				other.send(0, 20, false)
			}
			return other.received[0] == frames && other.sent[0] == frames && other.tr.Queued(0) == 0
		})
	})
	for range frames {
		lock.Lock()
		me.send(1, 5000, true)
		lock.Unlock()
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Microsecond) {
		lock.Lock()
		finished := me.received[1] == frames && len(me.loans) == 0 && me.tr.Queued(1) == 0
		lock.Unlock()
		if finished {
			break
		}
		if time.Now().After(end) {
			t.Error("the keeper slept through its work")
			break
		}
	}
	close(stop)
	me.tr.Wake()
	all.Wait()
}

// What was drained arrives, although its sender is gone.
func testDrain(t *testing.T, factory Factory) {
	job, nodes := start(t, factory, 2)
	from, to := nodes[0], nodes[1]
	done := make(chan struct{})
	const frames = 10
	go func() {
		defer close(done)
		to.send(0, 100, false) // never read: the sender leaves with bytes unread
		until(t, "all that was drained has arrived", []*node{to}, func() bool { return to.closed[0] == 1 })
	}()
	for range frames {
		from.send(1, wire.MaxPayload/2, false)
	}
	until(t, "they have met", nodes[:1], func() bool { return from.received[1] == 1 })
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

// A frame that can't be is refused where it's made.
func testInvalidHeader(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	defer func() {
		if recover() == nil {
			t.Error("a heartbeat with a payload was sent")
		}
	}()
	nodes[0].tr.Send(1, &wire.Header{Kind: wire.KindHeartbeat}, []byte("x"), 0)
}

// counter is a sink that only counts.
type counter int

func (c *counter) Frame(proto.Proc, *wire.Header, []byte)      { *c++ }
func (c *counter) Dest(proto.Proc, *wire.Header) []byte        { return nil }
func (c *counter) Arrived(proto.Proc, *wire.Header)            { *c++ }
func (c *counter) Sent(proto.Proc, uint64)                     {}
func (c *counter) Closed(p proto.Proc, why transport.Evidence) { panic(fmt.Sprint(p, why)) }

// Small frames in a steady flow cost no allocation, whether they leave at once
// or wait in the queue.
func testNoAllocation(t *testing.T, factory Factory) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	job := factory(t, 2)
	var here, there counter
	h := wire.Header{Kind: wire.KindEager, Total: 64}
	small := make([]byte, 64)
	pingPong := func(burst int) func() {
		return func() {
			want := there + counter(burst)
			for range burst {
				job.Procs[0].Send(1, &h, small, 0)
			}
			for there < want {
				job.Procs[1].Poll(&there)
				job.Procs[0].Poll(&here)
			}
			job.Procs[1].Send(0, &h, small, 7)
			for want := here + 1; here < want; {
				job.Procs[0].Poll(&here)
			}
			job.Procs[1].Poll(&there)
		}
	}
	for _, burst := range []int{1, 6000} {
		run := pingPong(burst)
		for range 3 {
			run()
		}
		if n := testing.AllocsPerRun(10, run); n >= 1 {
			t.Errorf("%v allocations for %d frames and an answer", n, burst)
		}
	}
}
