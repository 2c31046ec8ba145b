// Package inproc connects Procs that are goroutines of one operating-system process, for tests
// and for programs whose ranks are goroutines.
//
// Each ordered pair of Procs has a pipe, which is a ring of bytes made at its first use, and on
// the sender's side a queue for bytes that the ring can't take. A bitmap per endpoint says which
// peers to look at, so an idle Poll costs a load per 64 Procs. A small frame allocates nothing.
//
// A Network can also crash Procs: Kill ends a Proc between any two instructions of its goroutine,
// and a prefix of what it had sent arrives.
package inproc

import (
	"fmt"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

// Network is n endpoints.
type Network struct {
	endpoints []*Endpoint
	pipes     []atomic.Pointer[pipe] // from a to b at a·n + b, nil until used
}

// NewNetwork returns a network of the Procs 0…n-1.
func NewNetwork(n int) *Network {
	net := &Network{
		endpoints: make([]*Endpoint, n),
		pipes:     make([]atomic.Pointer[pipe], n*n),
	}
	for p := range net.endpoints {
		net.endpoints[p] = newEndpoint(net, proto.Proc(p), n)
	}
	return net
}

// Endpoint returns the transport of a Proc, always the same one. It panics if the network has no
// such Proc.
func (net *Network) Endpoint(p proto.Proc) transport.Transport {
	if p < 0 || int(p) >= len(net.endpoints) {
		panic(fmt.Sprintf("inproc: %v in a network of %d", p, len(net.endpoints)))
	}
	return net.endpoints[p]
}

// Kill crashes a Proc, from any goroutine: nothing that it hadn't yet written arrives, and its
// peers see it closed. On its own endpoint, Send and Poll do nothing from the next call on, and
// Wait blocks until its limit or Wake.
func (net *Network) Kill(p proto.Proc) { net.endpoints[p].end() }

// pipe returns the pipe of an ordered pair, made if there is none yet.
func (net *Network) pipe(from, to proto.Proc) *pipe {
	entry := &net.pipes[int(from)*len(net.endpoints)+int(to)]
	if p := entry.Load(); p != nil {
		return p
	}
	entry.CompareAndSwap(nil, new(pipe))
	return entry.Load()
}

// pipeIfUsed is pipe, but nil where there is none yet.
func (net *Network) pipeIfUsed(from, to proto.Proc) *pipe {
	return net.pipes[int(from)*len(net.endpoints)+int(to)].Load()
}
