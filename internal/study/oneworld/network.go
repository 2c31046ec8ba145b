package oneworld

import (
	"banyan/internal/proto"
)

// The network between hosts. A path from one host to another passes, drops or rejects what is sent
// along it, as the faults in force say.

// path is what becomes of a packet.
type path uint8

const (
	passes path = iota
	drops
	rejects // a firewall answers with a reset
)

// path is that from one host to another, now. A host without power drops everything.
func (w *world) path(from, to *host) path {
	if from == to {
		return passes
	}
	if from.dead || to.dead {
		return drops
	}
	p := passes
	for i := range w.faults {
		f := &w.faults[i]
		if w.now < f.At || w.now >= f.Until {
			continue
		}
		out := f.Side>>from.id&1 == 1 && f.Against>>to.id&1 == 1
		in := f.Against>>from.id&1 == 1 && f.Side>>to.id&1 == 1
		switch {
		case f.Kind == Cut && (out || in), f.Kind == OneWay && out, f.Kind == LinkDown && (f.Host == from.id || f.Host == to.id):
			return drops
		case f.Kind == Flap && (out || in) && (w.now-f.At)/flapSpan%2 == 0:
			return drops
		case f.Kind == Reject && (out || in):
			p = rejects
		}
	}
	return p
}

// flapSpan is how long a flapping path is down, and then up.
const flapSpan = 700 * ms

// roundTrip is what becomes of a question from one host to another, and its answer.
func (w *world) roundTrip(from, to *host) path {
	return max2(w.path(from, to), w.path(to, from))
}

// max2 is drops before rejects before passes.
func max2(a, b path) path {
	switch {
	case a == drops || b == drops:
		return drops
	case a == rejects || b == rejects:
		return rejects
	}
	return passes
}

// delay is how long a packet travels now. Where packets are lost, they are sent again.
func (w *world) delay(from, to *host) proto.Time {
	if from == to {
		return 20*us + w.upTo(80*us)
	}
	d := 50*us + w.upTo(500*us)
	if w.rng.IntN(500) == 0 {
		d += w.upTo(100 * ms)
	}
	for i := range w.faults {
		f := &w.faults[i]
		if f.Kind == Lossy && w.now >= f.At && w.now < f.Until && (f.Host == from.id || f.Host == to.id) && w.rng.IntN(3) == 0 {
			d += 200*ms + w.upTo(300*ms)
		}
	}
	return d
}

// datagram carries a message between the steward's machines, which bear that messages are lost. Of
// one pair of hosts they come in order. refused is called at the sender if there is nobody, or a
// firewall that says so.
func (w *world) datagram(from, to *host, deliver, refused func()) {
	link := int(from.id)*len(w.hosts) + int(to.id)
	switch p := w.path(from, to); {
	case p == drops:
		return
	case p == rejects, to.agentDead && from != to:
		if w.now >= w.redial[link] { // an agent dials again after a pause
			w.redial[link] = w.now + redialPause
			w.after(300*us, func() { from.agentDo(refused) })
		}
		return
	}
	at := max(w.arrivals[link], w.now+w.delay(from, to))
	w.arrivals[link] = at
	w.at(at, func() {
		if w.path(from, to) == passes {
			to.agentDo(deliver)
		}
	})
}

const redialPause = 200 * ms

// stream carries messages between agents in order, each once, and goes on where it was after the
// network was cut, as package agent/link does. It ends with either agent.
type stream struct {
	from, to *host
	items    fifo[streamItem]
	due      bool
	move     func()
}

type streamItem struct {
	at proto.Time
	do func()
}

func (w *world) stream(from, to *host) *stream {
	i := int(from.id)*len(w.hosts) + int(to.id)
	if w.streams[i] == nil {
		s := &stream{from: from, to: to}
		s.move = func() { w.deliver(s) }
		w.streams[i] = s
	}
	return w.streams[i]
}

// tell sends a message over the stream of two agents: do is called at the receiver.
func (w *world) tell(from, to *host, do func()) {
	s := w.stream(from, to)
	s.items.add(streamItem{w.now + w.delay(from, to), do})
	w.pump(s, s.items.first().at)
}

func (w *world) pump(s *stream, at proto.Time) {
	if !s.due {
		s.due = true
		w.at(max(at, w.now), s.move)
	}
}

func (w *world) deliver(s *stream) {
	s.due = false
	if s.from.dead || s.from.agentDead || s.to.dead || s.to.agentDead {
		s.items.clear()
		return
	}
	if w.roundTrip(s.from, s.to) != passes {
		w.pump(s, w.now+150*ms+w.upTo(100*ms))
		return
	}
	for s.items.length() > 0 && s.items.first().at <= w.now {
		s.to.agentDo(s.items.take().do)
	}
	if s.items.length() > 0 {
		w.pump(s, s.items.first().at)
	}
}
