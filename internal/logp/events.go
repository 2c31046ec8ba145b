package logp

import "banyan/internal/proto"

// event is something that happens at a time. Of one instant's events, those of
// lower stages come first, those of one stage in the order in which they were
// pushed.
type event struct {
	time    proto.Time
	order   uint64 // the stage, then a running number
	message Message
}

// stages of an instant. Sends follow when they are over.
const (
	crashes     = iota // To dies
	receiveEnds        // To has received the message
	mayReceive         // To may begin its next receive
	arrives            // the message is at To
	maySend            // To may begin its next send
)

func (e *event) stage() int { return int(e.order >> 56) }

func (e *event) before(other *event) bool {
	return e.time < other.time || e.time == other.time && e.order < other.order
}

// events is a heap.
type events struct {
	heap   []event
	number uint64
}

func (h *events) push(at proto.Time, stage int, x Message) {
	h.number++
	e := event{at, uint64(stage)<<56 | h.number, x}
	h.heap = append(h.heap, e)
	i := len(h.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h.heap[up]) {
			break
		}
		h.heap[i], i = h.heap[up], up
	}
	h.heap[i] = e
}

func (h *events) pop() event {
	first := h.heap[0]
	n := len(h.heap) - 1
	e := h.heap[n]
	h.heap = h.heap[:n]
	for i := 0; n > 0; {
		down := 2*i + 1
		if down+1 < n && h.heap[down+1].before(&h.heap[down]) {
			down++
		}
		if down >= n || !h.heap[down].before(&e) {
			h.heap[i] = e
			break
		}
		h.heap[i], i = h.heap[down], down
	}
	return first
}

// next is the time of the next event, or Never.
func (h *events) next() proto.Time {
	if len(h.heap) == 0 {
		return proto.Never
	}
	return h.heap[0].time
}

func (h *events) clear() { h.heap, h.number = h.heap[:0], 0 }
