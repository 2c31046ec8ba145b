package trace

import "banyan/internal/proto"

// Pairs finds, for each receive or drop of a trace, the send of the same message. Networks keep the
// order of messages: the n-th message of a kind that one process sends another is the n-th of that
// kind that the other gets. The zero Pairs is ready.
type Pairs struct {
	open map[channel]*waiting
	next uint64
}

// channel is a sender, a receiver and a kind of message.
type channel struct {
	from, to proto.Proc
	kind     string
}

// waiting are messages that were sent and that nobody has got, oldest first.
type waiting struct {
	all   []Sent
	early int // that were received before they seem to be sent: clocks disagree
}

// Sent is a message that was sent. Number is its own, from 1 on.
type Sent struct {
	Number uint64
	At     proto.Time
}

// Send notes a send, and numbers it.
func (p *Pairs) Send(e Event) Sent {
	if p.open == nil {
		p.open = make(map[channel]*waiting)
	}
	p.next++
	s := Sent{p.next, e.Time}
	c := channel{e.Proc, e.Peer, e.Kind}
	w := p.open[c]
	if w == nil {
		w = new(waiting)
		p.open[c] = w
	}
	if w.early > 0 {
		w.early--
		return s
	}
	w.all = append(w.all, s)
	return s
}

// End is the send of the message that a receive or a drop has ended; ok is false if the trace
// doesn't have that before: clocks may disagree.
func (p *Pairs) End(e Event) (s Sent, ok bool) {
	if p.open == nil {
		p.open = make(map[channel]*waiting)
	}
	c := channel{e.Peer, e.Proc, e.Kind}
	w := p.open[c]
	if w == nil {
		w = new(waiting)
		p.open[c] = w
	}
	if len(w.all) == 0 {
		w.early++
		return s, false
	}
	s = w.all[0]
	w.all = w.all[1:]
	return s, true
}
