package transporttest

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// replace replaces a Proc. The other Procs admit the replacement later, by admit.
func replace(job *Job, nodes []*node, p proto.Proc) (fresh *node, incarnation proto.Incarnation) {
	tr, incarnation := job.Replace(p)
	nodes[p] = newNode(nodes[p].t, p, len(nodes), tr)
	return nodes[p], incarnation
}

// admit makes a Proc let the replacement in, whose frames are numbered from 1 again.
func (n *node) admit(p proto.Proc, incarnation proto.Incarnation) {
	n.tr.(transport.Admitter).Admit(p, incarnation)
	n.sent[p], n.received[p], n.closed[p], n.dest[p] = 0, 0, 0, destination{}
}

// Dead Procs are replaced again and again. Each replacement exchanges frames with all others, and
// nothing of the former process comes through, whatever that had on its way, and whenever the
// replacement is admitted.
func testReplaced(t *testing.T, factory Factory) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(17, seed))
		job, nodes := start(t, factory, 3)
		if job.Replace == nil {
			t.Skip("this transport replaces no process")
		}
		nodes[1].send(0, 1, false)
		until(t, "two have met", nodes, func() bool { return nodes[0].received[1] == 1 })
		for range 4 {
			for range rng.IntN(30) {
				nodes[1].send(proto.Proc(2*rng.IntN(2)), randomSize(rng), rng.IntN(2) == 0)
				nodes[2*rng.IntN(2)].send(1, randomSize(rng), true)
				if rng.IntN(3) == 0 {
					nodes[rng.IntN(3)].poll()
				}
			}
			job.Crash(1)
			others := []*node{nodes[0], nodes[2]}
			if rng.IntN(2) == 0 { // otherwise it is admitted first
				for range rng.IntN(50) {
					nodes[0].poll()
					nodes[2].poll()
				}
			}
			fresh, incarnation := replace(job, nodes, 1)
			for i, n := range others {
				if rng.IntN(2) == 0 { // it is early
					fresh.send(n.self, randomSize(rng), true)
					n.poll()
				}
				n.admit(1, incarnation)
				if rng.IntN(2) == 0 {
					n.send(1, randomSize(rng), true)
				}
				if i == 0 && rng.IntN(2) == 0 {
					continue
				}
				fresh.send(n.self, randomSize(rng), true)
			}
			for _, n := range others {
				n.send(1, wire.MaxPayload, true)
				fresh.send(n.self, wire.MaxPayload, true)
			}
			until(t, "all is exchanged", nodes, func() bool {
				for _, n := range others {
					if n.received[1] != fresh.sent[n.self] || fresh.received[n.self] != n.sent[1] || len(n.loans) > 0 {
						return false
					}
				}
				return len(fresh.loans) == 0
			})
		}
		settle(nodes)
		for _, n := range []*node{nodes[0], nodes[2]} {
			if n.closed[1] != 0 {
				t.Errorf("%v: the end of the last one is told, which lives", n.self)
			}
		}
	}
}

// A process that is taken for dead, but lives, gets an eviction notice when it is replaced, and
// none of its frames comes through, whether it had contact with its peer or not.
func testReplacedAlive(t *testing.T, factory Factory) {
	for _, contacted := range []bool{true, false} {
		job, nodes := start(t, factory, 2)
		if job.Replace == nil {
			t.Skip("this transport replaces no process")
		}
		former := nodes[1]
		if contacted {
			former.send(0, 1, false)
			until(t, "they are in contact", nodes, func() bool { return nodes[0].received[1] == 1 })
		}
		former.send(0, wire.MaxPayload, true)
		nodes[0].tr.Fence(1)
		fresh, incarnation := replace(job, nodes, 1)
		nodes[0].admit(1, incarnation)
		former.send(0, 1, true)
		nodes[0].send(1, 10, false)
		fresh.send(0, 10, false)
		three := append(nodes, former)
		until(t, "the former is told, the replacement heard", three, func() bool {
			return former.closed[0] == 1 && fresh.received[0] == 1 && nodes[0].received[1] == 1
		})
		if former.evidence[0] != transport.EvidenceEviction {
			t.Errorf("the former one is told %v", former.evidence[0])
		}
		settle(three)
		former.tr.Close()
	}
}

// A replacement may die at any point: its end is reported once there was contact, and it is
// replaced in turn.
func testReplacedDies(t *testing.T, factory Factory) {
	job, nodes := start(t, factory, 2)
	if job.Replace == nil {
		t.Skip("this transport replaces no process")
	}
	job.Crash(1)
	for steps := 0; steps < 40; steps += 3 {
		fresh, incarnation := replace(job, nodes, 1)
		fresh.send(0, 100, true)
		for i := range steps {
			if i == steps/3 {
				nodes[0].admit(1, incarnation)
				nodes[0].send(1, wire.MaxPayload, true)
			}
			fresh.poll()
			nodes[0].poll()
		}
		job.Crash(1)
	}
	fresh, incarnation := replace(job, nodes, 1)
	nodes[0].tr.(transport.Admitter).Admit(1, incarnation-1) // changes nothing
	nodes[0].admit(1, incarnation)
	nodes[0].send(1, 10, true)
	fresh.send(0, 10, true)
	until(t, "the last one is in contact", nodes, func() bool {
		return nodes[0].received[1] == 1 && fresh.received[0] == 1 && len(nodes[0].loans) == 0
	})
	job.Crash(1)
	until(t, "its end is told", nodes[:1], func() bool { return nodes[0].closed[1] == 1 })
}

// A sink that admits a replacement while it takes a frame of the former process gets nothing more
// from that process.
func testReplacedInsideSink(t *testing.T, factory Factory) {
	job, nodes := start(t, factory, 2)
	if job.Replace == nil {
		t.Skip("this transport replaces no process")
	}
	former, me := nodes[1], nodes[0]
	heard := uint64(0)
	var fresh *node
	me.onFrame = func(_ proto.Proc, h *wire.Header) {
		if heard = h.Seq; h.Seq == 3 {
			me.onFrame = nil
			var incarnation proto.Incarnation
			fresh, incarnation = replace(job, nodes, 1)
			me.admit(1, incarnation)
		}
	}
	for range 10 {
		former.send(0, 10, false)
	}
	until(t, "the former is told", []*node{me, former}, func() bool { return former.closed[0] == 1 })
	if heard != 3 || me.received[1] != 0 {
		t.Errorf("frame %d was the last, then %d came", heard, me.received[1])
	}
	fresh.send(0, 10, false)
	until(t, "the replacement is heard", nodes, func() bool { return me.received[1] == 1 })
	former.tr.Close()
}
