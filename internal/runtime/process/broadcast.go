package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/runtime/wire"
)

// SegmentLimit is the largest broadcast in bytes. Longer ones are sent as several, which follow
// each other down the tree.
const SegmentLimit = 64 << 10

// pullDelay is how long a member waits for a broadcast that a death may have interrupted before
// it asks for it.
const pullDelay = proto.Time(5e6) // 5 ms

// correctAfter is how long a member waits before it corrects its neighbours. It is longer than a
// broadcast and a barrier take, in which the member mostly learns that its neighbours need
// nothing, and far shorter than it takes to find out about a death. It is chosen by that
// reasoning: no search for a better value was made.
const correctAfter = proto.Time(50e3) // 50 µs

// Shape is the tree of a broadcast; see package broadcast.
type Shape = broadcast.Shape

// The shapes of trees.
const (
	Shallow = broadcast.Shallow
	Chain   = broadcast.Chain
	Star    = broadcast.Star
	Named   = broadcast.Named
)

// OpenContext makes a context known: its members as world ranks in the order of their ranks in
// the communicator, and whether collectives use it.
func (p *Process) OpenContext(id uint64, members []proto.Rank, collective bool) error {
	return p.OpenBranch(id&^1, id, members, collective)
}

// OpenBranch is OpenContext for a further context of a communicator, whose context of
// point-to-point messages is family.
func (p *Process) OpenBranch(family, id uint64, members []proto.Rank, collective bool) error {
	if p.contexts.byID[id] != nil {
		return ErrContext
	}
	c := &context{id: id, members: members, collective: collective, family: family}
	c.self = c.index(p.rank)
	for _, r := range p.lifecycle.lost {
		c.noteFailed(r)
	}
	p.contexts.byID[id] = c
	if f := p.contexts.byID[family]; f != nil && f.revoked {
		c.revoked, c.shut = true, true
		return nil
	}
	if id == family {
		p.openTolerance(c)
	}
	if !collective || p.cfg.Layout.Replicated() || len(members) == 1 {
		return nil
	}
	c.broadcasts = true
	for _, o := range p.contexts.takeOrphans(id) {
		p.broadcastArrived(o.from, &o.header, o.payload)
	}
	return nil
}

// SetSources says which members of a context send to this rank, if not all do.
func (p *Process) SetSources(id uint64, members []proto.Rank) {
	if c := p.contexts.find(id); c != nil {
		c.sources = members
	}
}

// openStream makes the stream of a context that has none yet.
func (p *Process) openStream(c *context) {
	c.stream = broadcast.NewStream(broadcast.StreamConfig{
		Self: c.self, Size: len(c.members), PullDelay: pullDelay, CorrectAfter: correctAfter,
		Scheme: p.cfg.Scheme,
	})
	p.contexts.active = append(p.contexts.active, c)
	c.indices = c.inverse(p.cfg.Layout.Ranks())
	for i, m := range c.members {
		if q := p.cfg.Layout.Proc(m, 0); !p.liveness.detector.Alive(q) {
			c.stream.Dead(p.now, i, &c.out)
		}
	}
}

// Broadcast takes part in the next broadcast of a context, of at most SegmentLimit
// bytes, in an unreplicated job. root is an index in the context; the root's shape
// of the tree counts. The request ends when the data is here. This member has passed
// the data on by then; corrections may follow.
func (p *Process) Broadcast(id uint64, root int, shape Shape, buffer []byte) Handle {
	c := p.contexts.find(id)
	h, r := p.newRequest(broadcasting)
	r.buffer, r.context, r.shape = buffer, id, shape
	err := p.contextError(id)
	if err == nil && c.broken {
		err = ErrMismatch
	}
	if err != nil {
		p.complete(h, r, err)
		return h
	}
	if c.stream == nil {
		p.openStream(c)
	}
	c.begun = true
	r.peer = proto.Rank(root)
	c.waiting = append(c.waiting, h)
	p.startBroadcasts(c)
	p.runStream(c)
	return h
}

// startBroadcasts starts those of the waiting broadcasts that may start.
func (p *Process) startBroadcasts(c *context) {
	for _, h := range c.waiting {
		r := p.requests.get(h)
		if r == nil || r.number != 0 {
			continue
		}
		root := int(r.peer)
		if root != c.self {
			r.number = c.stream.Start(p.now, root, nil, &c.out)
			continue
		}
		if !c.stream.MayStart() {
			return
		}
		r.number = c.stream.StartAs(p.now, root, r.shape, p.buffers.copyOf(r.buffer), &c.out)
	}
}

// broadcastArrived hands a frame, with a payload to keep, to the stream of its context.
func (p *Process) broadcastArrived(from proto.Proc, h *wire.Header, payload []byte) {
	c := p.contexts.find(h.Context)
	if c == nil {
		if p.cfg.Layout.Replicated() || p.contexts.wasForgotten(h.Context) || p.belated(from, h.Context) {
			p.buffers.put(payload)
		} else {
			p.contexts.orphans[h.Context] = append(p.contexts.orphans[h.Context], orphan{from, *h, payload})
		}
		return
	}
	if c.revoked {
		p.belated(from, h.Context)
		p.buffers.put(payload)
		return
	}
	f := h.Broadcast()
	if !c.broadcasts || f.From < 0 || f.From >= len(c.members) ||
		c.members[f.From] != p.cfg.Layout.Rank(from) || f.Root < 0 || f.Root >= len(c.members) {
		p.buffers.put(payload)
		return
	}
	if c.stream == nil {
		p.openStream(c)
	}
	c.stream.Receive(p.now, f.From, broadcast.Frame{
		Kind: broadcast.FrameKind(f.Kind - wire.KindTree), Number: f.Number, Root: f.Root, Stable: f.Stable,
		Shape: broadcast.Shape(f.Shape), Step: broadcast.Kind(f.Step), Payload: payload,
	}, &c.out)
	p.runStream(c)
	if f.Kind == wire.KindBroadcastReport && f.Number == everyNumber {
		p.memberClosed(c, f.From)
	}
}

// noteCompleted takes from a message of a context how many broadcasts its sender has completed
// there.
func (p *Process) noteCompleted(id uint64, src proto.Rank, number uint64) {
	c := p.contexts.find(id)
	if c == nil || c.stream == nil {
		return
	}
	if i := c.index(src); i >= 0 {
		c.stream.Heard(p.now, i, number, &c.out)
		if len(c.out) > 0 || len(c.waiting) > 0 {
			p.runStream(c)
		}
	}
}

// pumpStreams lets every stream send one more correction.
func (p *Process) pumpStreams() bool {
	sent := false
	for _, c := range p.contexts.active {
		if c.stream.Idle() && len(c.waiting) == 0 {
			continue
		}
		ready := c.stream.SendReady(p.now, &c.out)
		if ready || len(c.waiting) > 0 { // there may be nothing to send to the dead
			p.runStream(c)
		}
		sent = sent || ready
	}
	return sent
}

// runStream carries out what a stream asked for, and ends the broadcasts of the program that are
// through.
func (p *Process) runStream(c *context) {
	p.carryOut(c)
	if len(c.waiting) > 0 {
		p.endBroadcasts(c)
	}
	for c.stream.Owes() {
		c.stream.SendReady(p.now, &c.out)
		p.carryOut(c)
	}
}

func (p *Process) carryOut(c *context) {
	for i := range c.out {
		switch a := &c.out[i]; a.Kind {
		case broadcast.SendFrame:
			f := wire.Broadcast{
				Kind: wire.KindTree + wire.Kind(a.Frame.Kind), Context: c.id, Number: a.Frame.Number,
				From: c.self, To: a.To, Root: a.Frame.Root, Shape: uint8(a.Frame.Shape), Step: uint8(a.Frame.Step),
				Stable: a.Frame.Stable, Bytes: len(a.Frame.Payload),
			}
			f.Put(&p.header)
			p.send(p.cfg.Layout.Proc(c.members[a.To], 0), &p.header, a.Frame.Payload, 0)
		case broadcast.Coloured:
			if p.cfg.Recorder != nil {
				p.cfg.Recorder.Coloured()
			}
			p.coloured(c, a.Frame.Number, a.Frame.Payload)
		case broadcast.Failed:
			p.broadcastFailed(c, a.Frame.Number, c.members[a.To])
		case broadcast.Recycle:
			p.buffers.put(a.Frame.Payload)
		}
	}
	c.out = c.out[:0]
}

// coloured brings a broadcast's data to the program, which waits for it.
func (p *Process) coloured(c *context, number uint64, payload []byte) {
	for _, h := range c.waiting {
		r := p.requests.get(h)
		if r == nil || r.number != number || r.coloured {
			continue
		}
		r.coloured = true
		if int(r.peer) != c.self {
			if len(payload) != len(r.buffer) {
				// What this member takes for the next broadcast may be more of
				// this one: it can't get back into step.
				r.err = &SizeError{c.members[r.peer], 0, len(payload), len(r.buffer), ErrMismatch}
				c.broken = true
			}
			copy(r.buffer, payload)
		}
	}
}

// broadcastFailed ends a broadcast whose root died before any live member had it.
func (p *Process) broadcastFailed(c *context, number uint64, root proto.Rank) {
	for _, h := range c.waiting {
		if r := p.requests.get(h); r != nil && r.number == number {
			r.coloured, r.err = true, &LostError{Rank: root}
		}
	}
}

// endBroadcasts starts the program's broadcasts for which there is room, and ends those whose
// data is here.
func (p *Process) endBroadcasts(c *context) {
	p.startBroadcasts(c)
	p.carryOut(c)
	kept := c.waiting[:0]
	for _, h := range c.waiting {
		r := p.requests.get(h)
		if r == nil || r.done {
			continue
		}
		switch {
		case r.coloured:
			p.complete(h, r, r.err)
		case c.broken:
			p.complete(h, r, ErrMismatch)
		default:
			kept = append(kept, h)
		}
	}
	c.waiting = kept
}
