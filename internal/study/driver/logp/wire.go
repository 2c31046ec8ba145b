package logp

import (
	"banyan/internal/proto"
	"banyan/internal/queue"
)

// wire is all messages from the beginning of their sends to the end of their
// receives. Since each of these stages takes all messages the same time, those
// that were sent at one instant, a batch, go through them together, and
// batches in the order in which they were sent. So a message is written once, and
// no queue of events is needed: three places in one queue of batches are all.
//
// A message that has to wait for its receiver leaves the wire when it arrives.
type wire struct {
	ring    []Message // its length is a power of two, or 0
	pages   hugePages // of the ring
	batches queue.Queue[batch]
	end     uint // where the next message goes, before it is taken modulo the ring's length

	sent, arrived int // how many batches, from the oldest, are through these stages
}

// batch is what was sent at one instant.
type batch struct {
	time    proto.Time // when its sends began
	at      uint
	count   int
	started int // after arrival: how many are being received, the first of its place in the ring
}

// room makes room for that many messages.
func (w *wire) room(messages int) {
	size := max(len(w.ring), 64)
	for size < messages {
		size *= 2
	}
	if size == len(w.ring) {
		return
	}
	grown := makeHuge[Message](&w.pages, size)
	start := w.start()
	for i := start; i != w.end; i++ {
		grown[i&uint(size-1)] = w.ring[i&uint(len(w.ring)-1)]
	}
	w.ring = grown
}

// start is where the oldest message is.
func (w *wire) start() uint {
	if w.batches.Len() == 0 {
		return w.end
	}
	return w.batches.At(0).at
}

// push adds messages whose sends begin now, in the order of their senders.
func (w *wire) push(now proto.Time, messages []Message) {
	w.room(int(w.end-w.start()) + len(messages))
	mask := uint(len(w.ring) - 1)
	n := copy(w.ring[w.end&mask:], messages)
	copy(w.ring, messages[n:])
	if n := w.batches.Len(); n == 0 || w.batches.At(n-1).time != now {
		w.batches.Push(batch{time: now, at: w.end})
	}
	w.end += uint(len(messages))
	w.batches.At(w.batches.Len() - 1).count += len(messages)
}

// next is the time at which the next batch after the first n ends a stage that
// it ends so long after it was sent.
func (w *wire) next(n int, after proto.Time) proto.Time {
	if n == w.batches.Len() {
		return proto.Never
	}
	return w.batches.At(n).time + after
}

// messages are those at a place in the ring, in two parts if they go round its
// end.
func (w *wire) messages(at uint, count int) (parts [2][]Message) {
	i := int(at & uint(len(w.ring)-1))
	first := min(count, len(w.ring)-i)
	return [2][]Message{w.ring[i : i+first], w.ring[:count-first]}
}

func (w *wire) clear() {
	w.batches.Clear()
	w.end, w.sent, w.arrived = 0, 0, 0
}
