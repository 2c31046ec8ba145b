package loggp

import (
	"math"

	"banyan/internal/proto"
)

// Frame is what one node sends another.
type Frame[B any] struct {
	At       proto.Time // when all of it has arrived
	From, To proto.Proc
	Size     uint32 // bytes; 0 for what was posted
	order    uint32 // among the frames of its sender
	Body     B
}

// before says whether a frame comes before another at their receiver.
func (f *Frame[B]) before(g *Frame[B]) bool {
	switch {
	case f.At != g.At:
		return f.At < g.At
	case f.From != g.From:
		return f.From < g.From
	}
	return f.order < g.order
}

// Port is where a node's frames leave and arrive. Only the node itself uses it, while it acts.
type Port[B any] struct {
	self   proto.Proc
	owner  *worker[B]
	ignore proto.Time // no frame that isn't urgent wakes the node before it
	window int64      // in which the node acts next; none: noWindow

	leaves  proto.Time // when the port is free to send
	arrives proto.Time // when it was free to receive
	sent    uint32

	inbox, urgent inbox[B]
}

const noWindow = math.MaxInt64

// Send hands a frame to the port at time at, and says when it arrives. Times of one node never
// run backwards.
func (p *Port[B]) Send(at proto.Time, to proto.Proc, size uint32, body B) (arrival proto.Time) {
	m := &p.owner.network.model
	leaves := max(at, p.leaves)
	p.leaves = leaves + m.Occupied(size)
	arrival = leaves + m.Latency + m.Stretch(size)
	p.sent++
	p.owner.send(&Frame[B]{At: arrival, From: p.self, To: to, Size: size, order: p.sent, Body: body}, false)
	return arrival
}

// Post has a frame arrive at a time, beside the network: what is part of a frame that was sent, or
// news that come by another way. The time is at least L from now. An urgent one wakes a node that
// ignores frames, and stands before the others.
func (p *Port[B]) Post(arrival proto.Time, to proto.Proc, urgent bool, body B) {
	p.sent++
	p.owner.send(&Frame[B]{At: arrival, From: p.self, To: to, order: p.sent, Body: body}, urgent)
}

// Next is when the first frame that waits has been received by the port; Never if none waits.
func (p *Port[B]) Next() proto.Time {
	if p.inbox.empty() {
		return proto.Never
	}
	f := p.inbox.first()
	if f.Size == 0 || f.At >= p.arrives {
		return f.At
	}
	return p.arrives
}

// Take takes the first frame. It stays valid until the node's next call.
func (p *Port[B]) Take() *Frame[B] {
	at := p.Next()
	f := p.inbox.take()
	f.At = at
	if f.Size > 0 {
		m := &p.owner.network.model
		// The next one that comes meanwhile has its first byte here already.
		p.arrives = at + m.Occupied(f.Size)
	}
	return f
}

// NextUrgent and TakeUrgent are Next and Take for what was posted as urgent.
func (p *Port[B]) NextUrgent() proto.Time {
	if p.urgent.empty() {
		return proto.Never
	}
	return p.urgent.first().At
}

// TakeUrgent takes the first urgent frame. It stays valid until the node's next call.
func (p *Port[B]) TakeUrgent() *Frame[B] { return p.urgent.take() }

// Ignore says that the node listens to no frame before some time, but to urgent ones.
func (p *Port[B]) Ignore(until proto.Time) { p.ignore = until }

// Clear drops all frames that wait: the node is dead.
func (p *Port[B]) Clear() { p.inbox, p.urgent = inbox[B]{}, inbox[B]{} }

// inbox is a queue of frames in the order in which they arrive.
type inbox[B any] struct {
	frames []Frame[B]
	head   int
}

func (b *inbox[B]) empty() bool      { return b.head == len(b.frames) }
func (b *inbox[B]) first() *Frame[B] { return &b.frames[b.head] }

func (b *inbox[B]) take() *Frame[B] {
	f := &b.frames[b.head]
	if b.head++; b.head == len(b.frames) {
		b.frames, b.head = b.frames[:0], 0
	}
	return f
}

// insert puts a frame where it belongs: mostly the end.
func (b *inbox[B]) insert(f *Frame[B]) {
	if b.head > 0 && len(b.frames) == cap(b.frames) {
		b.frames = b.frames[:copy(b.frames, b.frames[b.head:])]
		b.head = 0
	}
	b.frames = append(b.frames, *f)
	i := len(b.frames) - 1
	for ; i > b.head && f.before(&b.frames[i-1]); i-- {
		b.frames[i] = b.frames[i-1]
	}
	b.frames[i] = *f
}
