package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// outbox is the network of a process in leader order. Messages of the program, and offers of such,
// leave when all replicas of the rank know what they may depend on (output commit). All else
// leaves at once: acknowledgements and data say nothing that a decision could change.
type outbox struct {
	Net
	p      *Process
	frames []heldFrame // in the order in which they were sent
	queued []int       // bytes of them, by process
}

// heldFrame is a frame that waits.
type heldFrame struct {
	to      proto.Proc
	header  wire.Header
	payload []byte // pooled
	token   uint64
	after   uint64 // how many decisions must be known
}

// Send implements Net.
func (b *outbox) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if h.Kind != wire.KindEager && h.Kind != wire.KindOffer {
		b.Net.Send(to, h, payload, token)
		return
	}
	o, header := b.p.order, *h // the process uses h for the frames that tell its siblings
	if !o.made.empty() {
		b.p.tellDecisions()
		*h = header
	}
	if len(b.frames) == 0 && o.m.Stable() >= o.m.Len() {
		b.Net.Send(to, h, payload, token)
		return
	}
	b.frames = append(b.frames, heldFrame{to, header, b.p.buffers.copyOf(payload), token, o.m.Len()})
	b.queued[to] += len(payload)
}

// release sends what waits for nothing any more.
func (b *outbox) release() {
	if len(b.frames) == 0 {
		return
	}
	stable, n := b.p.order.m.Stable(), 0
	for ; n < len(b.frames) && b.frames[n].after <= stable; n++ {
		f := &b.frames[n]
		b.queued[f.to] -= len(f.payload)
		b.Net.Send(f.to, &f.header, f.payload, f.token)
		b.p.buffers.put(f.payload)
	}
	if n > 0 {
		b.p.Changes++
	}
	b.drop(n)
}

// drop forgets the first frames.
func (b *outbox) drop(n int) {
	kept := copy(b.frames, b.frames[n:])
	clear(b.frames[kept:])
	b.frames = b.frames[:kept]
}

// Queued implements Net.
func (b *outbox) Queued(to proto.Proc) int { return b.Net.Queued(to) + b.queued[to] }

// Fence implements Net.
func (b *outbox) Fence(q proto.Proc) {
	kept := b.frames[:0]
	for _, f := range b.frames {
		if f.to == q {
			b.queued[q] -= len(f.payload)
			b.p.buffers.put(f.payload)
		} else {
			kept = append(kept, f)
		}
	}
	clear(b.frames[len(kept):])
	b.frames = kept
	b.Net.Fence(q)
}

// sentAll tells whether nothing that the program has sent waits for replicas of its rank to know
// what it depends on.
func (p *Process) sentAll() bool { return p.order == nil || len(p.order.outbox.frames) == 0 }
