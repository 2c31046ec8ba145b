package loggp

import (
	"math"

	"banyan/internal/prefetch"
	"banyan/internal/proto"
)

// Class says how soon a node looks at a frame that has arrived. It looks at all others then, too,
// and finds for each when it arrived.
type Class uint8

// Classes.
const (
	// Prompt: at once, unless it ignores frames (Port.Ignore).
	Prompt Class = iota
	// Patient: likewise, but perhaps not before several of them wait (Port.Await).
	Patient
	// Quiet: not for its own sake, unless the node awaits a single frame.
	Quiet
	// Urgent: at once in any case. It stands in a queue of its own.
	Urgent
)

// Body is what frames carry.
type Body interface{ Class() Class }

// Frame is what one node sends another.
type Frame[B Body] struct {
	At       proto.Time // when all of it has arrived
	From, To proto.Proc
	Size     uint32 // bytes; 0 for what was posted
	order    uint32 // among the frames of its sender
	Body     B
}

// before says whether the first byte of a frame comes before that of another at their receiver.
func (f *Frame[B]) before(g *Frame[B], m *Model) bool {
	a, b := f.At, g.At
	if f.Size != g.Size {
		a, b = a-m.Stretch(f.Size), b-m.Stretch(g.Size)
	}
	switch {
	case a != b:
		return a < b
	case f.From != g.From:
		return f.From < g.From
	}
	return f.order < g.order
}

// Port is where a node's frames leave and arrive. Only the node itself uses it, while it acts.
type Port[B Body] struct {
	self   proto.Proc
	owner  *worker[B]
	window int64      // in which the node acts next; none: noWindow
	ignore proto.Time // no frame that isn't urgent wakes the node before it
	// awaited and awaitedBytes are how many patient frames, or of how many bytes, wake the node;
	// prompt, patient and bytes are what waits.
	awaited, prompt, patient int32
	awaitedBytes, bytes      int64
	within                   proto.Time // a patient frame wakes the node so long after it came

	leaves proto.Time // when the port is free to send
	free   proto.Time // when it is free to receive
	sent   uint32

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
	p.owner.send(&Frame[B]{At: arrival, From: p.self, To: to, Size: size, order: p.sent, Body: body})
	return arrival
}

// Post has a frame arrive at a time, beside the network: what is part of a frame that was sent, or
// news that come by another way. The time is at least L from now.
func (p *Port[B]) Post(arrival proto.Time, to proto.Proc, body B) {
	p.sent++
	p.owner.send(&Frame[B]{At: arrival, From: p.self, To: to, order: p.sent, Body: body})
}

// Next is when the first frame that waits has been received by the port; Never if none waits.
func (p *Port[B]) Next() proto.Time {
	if p.inbox.empty() {
		return proto.Never
	}
	f := p.inbox.first()
	if f.Size == 0 {
		return f.At
	}
	return max(f.At, p.free+p.owner.network.model.Stretch(f.Size))
}

// Take takes the first frame. It stays valid until the node's next call.
func (p *Port[B]) Take() *Frame[B] {
	at := p.Next()
	f := p.inbox.take()
	f.At = at
	switch f.Body.Class() {
	case Prompt:
		p.prompt--
	case Patient:
		p.patient--
		p.bytes -= int64(f.Size)
	}
	if f.Size > 0 {
		m := &p.owner.network.model
		p.free = at - m.Stretch(f.Size) + m.Occupied(f.Size)
	}
	return f
}

// NextUrgent and TakeUrgent are Next and Take for urgent frames.
func (p *Port[B]) NextUrgent() proto.Time {
	if p.urgent.empty() {
		return proto.Never
	}
	return p.urgent.first().At
}

// TakeUrgent takes the first urgent frame. It stays valid until the node's next call.
func (p *Port[B]) TakeUrgent() *Frame[B] { return p.urgent.take() }

// Ignore says that the node listens to no frame before some time, but to urgent ones. From then on
// any frame wakes it.
func (p *Port[B]) Ignore(until proto.Time) { p.ignore, p.awaited = until, 1 }

// Await says that the node has nothing to do before so many patient frames wait, or so many bytes
// of them, or the first of them has waited so long, or there is a prompt one. With one frame, quiet
// ones count as well. It says since when there are enough, or from when on, if some of the frames
// are still to come; Never if more have to be sent.
func (p *Port[B]) Await(frames int32, bytes int64, within proto.Time) (met proto.Time) {
	p.ignore, p.awaited, p.awaitedBytes, p.within = 0, frames, bytes, within
	if frames <= 1 {
		return p.Next()
	}
	return p.met()
}

// met is when those frames have arrived that the node awaits, or somewhat before: the port takes
// them one after the other. Never if they haven't been sent.
func (p *Port[B]) met() proto.Time {
	if p.prompt == 0 && p.patient < p.awaited && p.bytes < p.awaitedBytes {
		return proto.Never
	}
	var at proto.Time
	var count int32
	var bytes int64
	for i := p.inbox.head; i < len(p.inbox.frames); i++ {
		f := &p.inbox.frames[i]
		at = max(at, f.At)
		switch f.Body.Class() {
		case Prompt:
			return at
		case Patient:
			count++
			bytes += int64(f.Size)
			if count >= p.awaited || bytes >= p.awaitedBytes {
				return at
			}
		}
	}
	return at
}

// insert takes a frame in, and says whether it may wake the node, and when.
func (p *Port[B]) insert(f *Frame[B]) (wakes bool, at proto.Time) {
	m := &p.owner.network.model
	class := f.Body.Class()
	if class == Urgent {
		p.urgent.insert(f, m)
		return true, f.At
	}
	p.inbox.insert(f, m)
	switch class {
	case Prompt:
		p.prompt++
	case Patient:
		p.patient++
		p.bytes += int64(f.Size)
	}
	if p.awaited <= 1 {
		return true, max(f.At, p.ignore)
	}
	if class == Quiet {
		return false, 0
	}
	if at = p.met(); at != proto.Never {
		return true, max(at, p.ignore)
	}
	if p.within == proto.Never {
		return false, 0
	}
	return true, f.At + p.within
}

// Clear drops all frames that wait: the node is dead.
func (p *Port[B]) Clear() {
	p.inbox, p.urgent = inbox[B]{}, inbox[B]{}
	p.prompt, p.patient, p.bytes = 0, 0, 0
}

// inbox is a queue of frames in the order in which they arrive.
type inbox[B Body] struct {
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

// fetch asks for the port's memory, before it takes in a frame or its node acts.
func (p *Port[B]) fetch() { prefetch.Value(p) }

// fetch asks for the frames that wait, when the port's memory is there.
func (b *inbox[B]) fetch() { prefetch.Slice(b.frames[b.head:]) }

// fetchRoom asks for the memory of the next frame, and for what is looked at when it comes.
func (p *Port[B]) fetchRoom() {
	b := &p.inbox
	if k := len(b.frames); k < cap(b.frames) {
		first := max(0, k-1)
		if p.patient+1 >= p.awaited {
			first = b.head
		}
		prefetch.Slice(b.frames[first : k+1])
	}
}

// insert puts a frame where it belongs: mostly the end.
func (b *inbox[B]) insert(f *Frame[B], m *Model) {
	if b.head > 0 && len(b.frames) == cap(b.frames) {
		b.frames = b.frames[:copy(b.frames, b.frames[b.head:])]
		b.head = 0
	}
	b.frames = append(b.frames, *f)
	i := len(b.frames) - 1
	for ; i > b.head && f.before(&b.frames[i-1], m); i-- {
		b.frames[i] = b.frames[i-1]
	}
	b.frames[i] = *f
}
