// Package timeline draws a trace as the paper draws its figures 2 and 5 (Küttler
// et al.): a row for each process, time across, a line for the flight of each
// message.
//
// # From events to messages
//
// [Read] pairs the events of a trace. Networks keep the order of messages, so the n-th message of a
// kind that one process sends another is the n-th of that kind that the other receives, or drops if
// it is dead. Where noise lets messages overtake each other, two of a kind may be drawn crossed.
//
// In a simulated trace every message between live processes has an end. A message without one shows
// that the trace was cut short. A real trace may begin late, end early and have clocks that
// disagree. There an event without a partner is drawn alone.
//
// The overhead o and the latency L are parameters in the trace's header ([trace.Header.Param]).
// Without them sends and receives are moments, and flights go from one to the other. A message is
// drawn to arrive L after its send. With two latencies or noise, a message that comes sooner
// arrives when its receive begins, and one that comes later looks as if it waited.
//
// # The picture
//
// [Timeline.WriteSVG] writes one self-contained file, which any viewer shows. In a browser the
// wheel zooms, dragging moves the picture, and tooltips explain the element under the mouse. The
// colours are Okabe and Ito's, which colour-blind people can tell apart. Corrections are also
// dashed.
//
// # Limits
//
// [MaxProcs] processes and [MaxMessages] messages, which is far more than can be seen at once. Of a
// longer run [Read] reads a [Part]. Memory and time are linear in both.
package timeline

import (
	"fmt"
	"io"
	"strconv"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// The limits of a picture.
const (
	MaxProcs    = 4096
	MaxMessages = 50_000
)

// A Message is one line from a sender to a receiver.
type Message struct {
	From, To proto.Proc
	Kind     string
	Sent     proto.Time // when the sender began; Never if the trace doesn't say
	Ended    proto.Time // when it was received or dropped; Never if the trace doesn't say
	Dropped  bool       // at a dead process

	line int // of its first event
}

// A Timeline is a trace in memory, its messages in the order of their first events.
type Timeline struct {
	Header   trace.Header
	Overhead proto.Time // o, or 0 if unknown
	Latency  proto.Time // L, or -1 if unknown
	Messages []Message
	Coloured []proto.Time // when each process was coloured; Never if it wasn't
	Dead     []proto.Time // when each process died; Never if it didn't
	Begin    proto.Time   // of the first event, or 0 in a simulated run
	End      proto.Time   // of all events and sends
}

// Read reads a part of a trace. Errors name the line.
func Read(r io.Reader, part Part) (*Timeline, error) {
	b := builder{open: map[channel][]int{}, line: 1, part: part}
	if _, err := trace.ReadFrom(r, b.start, b.event); err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return &b.Timeline, nil
}

// channel is a sender, a receiver and a kind of message. The network keeps its messages in order.
type channel struct {
	from, to proto.Proc
	kind     string
}

// builder makes a timeline from events.
type builder struct {
	Timeline
	part  Part
	line  int
	last  proto.Time        // of the last event
	first proto.Time        // of a real trace's first event
	open  map[channel][]int // messages that were sent and haven't ended, oldest first
}

// start takes the header. Package trace adds the line to its errors and to those of event.
func (b *builder) start(h trace.Header) error {
	if h.Procs < 1 || h.Procs > MaxProcs {
		return fmt.Errorf("%d processes: can draw 1 to %d", h.Procs, MaxProcs)
	}
	b.Header = h
	b.Overhead, b.Latency = parameter(h, "o", 0), parameter(h, "L", -1)
	b.Coloured, b.Dead = nevers(h.Procs), nevers(h.Procs)
	return nil
}

// maxParameter keeps sums with a parameter from overflowing.
const maxParameter = 1 << 40

// parameter is a duration in the header, or else unknown.
func parameter(h trace.Header, name string, unknown proto.Time) proto.Time {
	d, err := strconv.ParseInt(h.Param(name), 10, 64)
	if err != nil || d < 0 || d > maxParameter {
		return unknown
	}
	return proto.Time(d)
}

func nevers(n int) []proto.Time {
	t := make([]proto.Time, n)
	for i := range t {
		t[i] = proto.Never
	}
	return t
}

// maxTime keeps sums of times from overflowing; in nanoseconds it is 146 years.
const maxTime = 1 << 62

// event takes the next event.
func (b *builder) event(e trace.Event) error {
	b.line++
	h := &b.Header
	simulated := h.Driver == "logp"
	whole := simulated && b.part.whole()
	switch {
	case e.Time < 0 || e.Time > maxTime:
		return fmt.Errorf("t: %d is no time", e.Time)
	case simulated && e.Time < b.last:
		return fmt.Errorf("t: %d comes after %d", e.Time, b.last)
	case e.Proc < 0 || int(e.Proc) >= h.Procs:
		return fmt.Errorf("proc: %d: want 0 to %d", e.Proc, h.Procs-1)
	}
	if b.line == 2 {
		if !simulated {
			b.first = e.Time
		}
		b.Begin = b.first + b.part.From
		b.End = b.Begin
	}
	b.last = e.Time
	if !b.part.clip(&e, b.first) {
		return nil
	}
	b.Begin, b.End = min(b.Begin, e.Time), max(b.End, e.Time)
	switch e.Event {
	case trace.Coloured:
		b.Coloured[e.Proc] = min(b.Coloured[e.Proc], e.Time)
	case trace.Dead:
		b.Dead[e.Proc] = min(b.Dead[e.Proc], e.Time)
	case trace.Send, trace.Receive, trace.Drop:
		if e.Peer < 0 || int(e.Peer) >= h.Procs {
			return fmt.Errorf("peer: %d: want 0 to %d", e.Peer, h.Procs-1)
		}
		return b.message(e, whole)
	}
	return nil // readers skip what they don't know
}

// message begins or ends a message.
func (b *builder) message(e trace.Event, whole bool) error {
	m := Message{From: e.Peer, To: e.Proc, Kind: e.Kind, Sent: proto.Never, Ended: e.Time, Dropped: e.Event == trace.Drop, line: b.line}
	if e.Event == trace.Send {
		m = Message{From: e.Proc, To: e.Peer, Kind: e.Kind, Sent: e.Time, Ended: proto.Never, line: b.line}
		b.End = max(b.End, e.Time+b.Overhead)
	}
	c := channel{m.From, m.To, m.Kind}
	if open := b.open[c]; e.Event != trace.Send && len(open) > 0 {
		first := &b.Messages[open[0]]
		first.Ended, first.Dropped = m.Ended, m.Dropped
		b.open[c] = open[1:]
		return nil
	}
	if e.Event != trace.Send && whole {
		return fmt.Errorf("process %d has a message (%s) from %d that %d hasn't sent", m.To, m.Kind, m.From, m.From)
	}
	if len(b.Messages) == MaxMessages {
		return fmt.Errorf("more than %d messages are too many for a picture: choose a part", MaxMessages)
	}
	if e.Event == trace.Send {
		b.open[c] = append(b.open[c], len(b.Messages))
	}
	b.Messages = append(b.Messages, m)
	return nil
}

// finish looks for messages without an end.
func (b *builder) finish() error {
	if !b.part.whole() && b.line > 1 && len(b.Messages) == 0 {
		return fmt.Errorf("no messages%s", b.part.which())
	}
	if b.Header.Driver != "logp" || !b.part.whole() {
		return nil
	}
	for i := range b.Messages {
		m := &b.Messages[i]
		if m.Ended == proto.Never && b.Dead[m.From] == proto.Never && b.Dead[m.To] == proto.Never {
			return fmt.Errorf("line %d, the last: the message from %d to %d in line %d has no end: the trace is cut short",
				b.line, m.From, m.To, m.line)
		}
	}
	return nil
}
