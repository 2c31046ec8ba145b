// Package transporttest is the conformance suite that every transport passes. It tests what
// package transport promises, and nothing that only one transport does.
package transporttest

import (
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Job has the unused transports of a job's Procs.
type Job struct {
	Procs []transport.Transport
	// Crash ends a Proc without notice. The owner calls it between two calls. Frames that the
	// Proc had queued are lost.
	Crash func(p proto.Proc)
	// Replace opens a process that replaces a Proc, under the next incarnation. It is nil if the
	// transport is no transport.Admitter.
	Replace func(p proto.Proc) (tr transport.Transport, incarnation proto.Incarnation)
	// Ended is the evidence that peers get of a Proc that crashed or was closed.
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
		{"Replaced", testReplaced},
		{"ReplacedAlive", testReplacedAlive},
		{"ReplacedDies", testReplacedDies},
		{"ReplacedInsideSink", testReplacedInsideSink},
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

// randomSize draws mostly small sizes, and large ones now and then.
func randomSize(rng *rand.Rand) int {
	switch rng.IntN(20) {
	case 0:
		return sizes[rng.IntN(len(sizes))]
	case 1, 2:
		return rng.IntN(3 * transport.DirectSize)
	}
	return rng.IntN(200)
}
