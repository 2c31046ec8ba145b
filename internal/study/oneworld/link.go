package oneworld

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Connections between processes, as package mesh makes them: at the first frame, tried again while
// they are refused, never made anew after a break. What the network says of an end is a hint; what
// the kernel of both says is certain.

const (
	dialPause = 100 * ms
	dialLimit = 5 * second // Config.Reach of package mesh
	askLimit  = second     // how long the question may take why a connection has ended
)

// peer is what a process's transport knows of another process.
type peer struct {
	incarnation proto.Incarnation // the last that was admitted
	fenced      bool
	over        bool // its end was reported
	asking      bool // why it has ended
	dialling    bool
	since       proto.Time // of the first attempt
	link        *link
	queue       []frame // until there is a connection
}

type frame struct {
	header  wire.Header
	payload []byte
	end     bool // the connection's end
	at      proto.Time
}

// link is a connection of two processes. Direction 0 goes from ends[0] to ends[1].
type link struct {
	ends   [2]*rank
	closed [2]bool // by this end
	frames [2]fifo[frame]
	due    [2]bool
	move   [2]func()
}

// Send implements process.Net.
func (r *rank) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if token != 0 {
		r.owed = append(r.owed, loan{to, token})
	}
	q := &r.peers[to]
	if r.dead || q.fenced || q.over || q.asking {
		return
	}
	f := frame{header: *h, payload: append(r.w.memory.get(len(payload))[:0], payload...)}
	f.header.Length = uint32(len(payload))
	r.w.bug.frame(r, &f)
	if q.link != nil {
		r.w.push(q.link, q.link.direction(r), f)
		return
	}
	q.queue = append(q.queue, f)
	if !q.dialling {
		q.dialling, q.since = true, r.w.now
		r.w.dial(r, to, q.incarnation)
	}
}

// Queued implements process.Net.
func (r *rank) Queued(to proto.Proc) int { return 0 }

// Fence implements process.Net.
func (r *rank) Fence(to proto.Proc) {
	q := &r.peers[to]
	if q.fenced {
		return
	}
	q.fenced, q.queue = true, nil
	if q.link != nil {
		r.w.hangUp(q.link, r)
	}
}

// Admit implements transport.Admitter.
func (r *rank) Admit(to proto.Proc, incarnation proto.Incarnation) {
	if incarnation <= r.peers[to].incarnation {
		return
	}
	r.Fence(to)
	r.peers[to] = peer{incarnation: incarnation}
}

func (l *link) direction(from *rank) int {
	if l.ends[0] == from {
		return 0
	}
	return 1
}

func (w *world) push(l *link, d int, f frame) {
	if l.closed[d] {
		return
	}
	f.at = w.now + w.delay(l.ends[d].host, l.ends[1-d].host)
	l.frames[d].add(f)
	w.flow(l, d, l.frames[d].first().at)
}

// flow moves what is under way. TCP sends again what was dropped; a firewall that rejects breaks
// the connection of the side that sends.
func (w *world) flow(l *link, d int, at proto.Time) {
	if !l.due[d] {
		l.due[d] = true
		w.at(max(at, w.now), l.move[d])
	}
}

func (w *world) move(l *link, d int) {
	l.due[d] = false
	from, to := l.ends[d], l.ends[1-d]
	if from.host.dead || to.host.dead {
		if !to.host.dead || from.host.dead {
			l.frames[d].clear()
		}
		return // nobody hears of it
	}
	switch w.path(from.host, to.host) {
	case drops:
		w.flow(l, d, w.now+100*ms+w.upTo(200*ms))
		return
	case rejects:
		l.frames[d].clear()
		w.broken(l, from)
		return
	}
	for l.frames[d].length() > 0 && l.frames[d].first().at <= w.now {
		f := l.frames[d].take()
		switch {
		case f.end:
			w.broken(l, to)
		case l.closed[1-d] || to.dead:
			w.broken(l, from) // a reset
		default:
			to.receive(l, from, f)
		}
	}
	if l.frames[d].length() > 0 {
		w.flow(l, d, l.frames[d].first().at)
	}
}

// receive takes a frame when it can.
func (r *rank) receive(l *link, from *rank, f frame) {
	if r.runs() {
		r.arrived(l, from, f)
		return
	}
	held := f
	r.act(func() { r.arrived(l, from, held) })
}

// arrived takes a frame.
func (r *rank) arrived(l *link, from *rank, f frame) {
	q := &r.peers[from.self]
	if q.link != l || q.fenced || q.over || q.asking {
		return
	}
	if r.dead || !r.started {
		return
	}
	r.p.At(r.host.clock())
	if len(f.payload) > transport.DirectSize {
		copy(r.p.Dest(from.self, &f.header), f.payload)
		r.p.Arrived(from.self, &f.header)
	} else {
		r.p.Frame(from.self, &f.header, f.payload)
	}
	r.w.memory.put(f.payload)
	r.advance()
}

// hangUp ends a process's side of a connection. A prefix of what was under way arrives, and then
// the end.
func (w *world) hangUp(l *link, r *rank) {
	d := l.direction(r)
	if l.closed[d] {
		return
	}
	if !r.left { // a process that leaves in order waits until all has gone
		l.frames[d].cut(w.rng.IntN(l.frames[d].length() + 1))
	}
	w.push(l, d, frame{end: true})
	l.closed[d] = true
}

// broken says that a connection has ended for one of its processes, which asks why.
func (w *world) broken(l *link, r *rank) {
	d := l.direction(r)
	other := l.ends[1-d]
	if l.closed[d] {
		return
	}
	l.closed[d] = true
	q := &r.peers[other.self]
	if q.link != l || q.fenced || q.over || r.dead {
		return
	}
	q.asking = true
	took := 2 * w.delay(r.host, other.host)
	if r.host != other.host && w.roundTrip(r.host, other.host) == drops {
		took = askLimit
	}
	w.after(took, func() { r.act(func() { r.asked(other) }) })
}

// asked takes the answer why a connection has ended.
func (r *rank) asked(other *rank) {
	w := r.w
	why := transport.EvidenceLost
	switch {
	case r.host == other.host && other.dead:
		why = transport.EvidenceExited
	case w.bug == CertainByRefusal && (w.roundTrip(r.host, other.host) == rejects || other.dead && !other.host.dead):
		why = transport.EvidenceExited
	case other.answers(r) && other.fences(r):
		why = transport.EvidenceEviction
	}
	r.over(other.self, other.incarnation, why)
}

// over reports the end of a peer.
func (r *rank) over(q proto.Proc, incarnation proto.Incarnation, why transport.Evidence) {
	p := &r.peers[q]
	if p.incarnation != incarnation || p.fenced || p.over {
		return
	}
	p.over, p.queue = true, nil
	r.log("connection to %v.%d: %v", q, incarnation, why)
	r.call(func() { r.p.Closed(q, why) })
}

// answers says whether a process could answer another one now.
func (r *rank) answers(other *rank) bool {
	return !r.dead && r.started && r.w.now >= r.until && r.w.now >= r.host.until && r.w.roundTrip(r.host, other.host) == passes
}

// fences says whether a process has fenced another one, or knows a later incarnation.
func (r *rank) fences(other *rank) bool {
	q := &r.peers[other.self]
	return other.incarnation < q.incarnation || other.incarnation == q.incarnation && q.fenced
}

// dial tries to connect.
func (w *world) dial(r *rank, to proto.Proc, incarnation proto.Incarnation) {
	w.after(2*w.delay(r.host, r.host)+w.upTo(300*us), func() { r.act(func() { r.dialled(to, incarnation) }) })
}

func (r *rank) dialled(to proto.Proc, incarnation proto.Incarnation) {
	w, q := r.w, &r.peers[to]
	if q.incarnation != incarnation || q.fenced || q.over || q.link != nil {
		return
	}
	other := w.incarnationOf(to, incarnation)
	answers := other != nil && other.answers(r)
	switch {
	case other != nil && other.host == r.host && other.dead:
		r.over(to, incarnation, transport.EvidenceExited)
		return
	case w.bug == CertainByRefusal && other != nil && other.started && (w.roundTrip(r.host, other.host) == rejects || other.dead && !other.host.dead):
		r.over(to, incarnation, transport.EvidenceExited)
		return
	case answers && other.fences(r):
		r.over(to, incarnation, transport.EvidenceEviction)
		return
	case answers && other.peers[r.self].incarnation == r.incarnation && (other.peers[r.self].over || other.peers[r.self].asking):
		r.over(to, incarnation, transport.EvidenceLost)
		return
	case answers && other.peers[r.self].incarnation == r.incarnation:
		w.connect(r, other)
		return
	case w.now-q.since > dialLimit && (other == nil || other.host != r.host):
		r.over(to, incarnation, transport.EvidenceLost)
		return
	}
	w.after(dialPause, func() { w.dial(r, to, incarnation) })
}

func (w *world) connect(a, b *rank) {
	l := &link{ends: [2]*rank{a, b}}
	l.move = [2]func(){func() { w.move(l, 0) }, func() { w.move(l, 1) }}
	for d, r := range l.ends {
		q := &r.peers[l.ends[1-d].self]
		q.link, q.dialling = l, false
		for _, f := range q.queue {
			w.push(l, d, f)
		}
		q.queue = nil
	}
}
