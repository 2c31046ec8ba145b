package replica

import (
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
)

// memo keeps the processes, frames and channels that an exploration meets, each once, and the
// reactions of the processes. A job has few states of one process but many combinations of
// them. So most events cost two look-ups, and a world's key is the numbers of its nodes.
type memo struct {
	nodes  map[digest]*node
	frames map[digest]uint32
	queues map[string]*queue
	buffer encoder
}

// known is what a memo knows of a node. A node with a known doesn't change any more.
type known struct {
	number    uint32
	reactions map[stimulus]*reaction
}

// stimulus is an event as its process sees it.
type stimulus struct {
	kind        eventKind
	other       proto.Proc
	incarnation proto.Incarnation // evHeal
	frame       uint32            // evDeliver
}

func newMemo(exact bool) *memo {
	return &memo{buffer: encoder{exact: exact}, nodes: make(map[digest]*node), frames: make(map[digest]uint32), queues: make(map[string]*queue)}
}

// node returns the kept node that equals n.
func (o *memo) node(n *node) *node {
	o.buffer.restart()
	n.encode(&o.buffer)
	d := o.buffer.digest()
	kept := o.nodes[d]
	if kept == nil {
		kept = n
		kept.known = &known{number: uint32(len(o.nodes)), reactions: make(map[stimulus]*reaction)}
		o.nodes[d] = kept
	}
	return kept
}

// frame gives a frame the number of its content, from 1.
func (o *memo) frame(f *frame) {
	o.buffer.restart()
	f.encode(&o.buffer)
	d := o.buffer.digest()
	if o.frames[d] == 0 {
		o.frames[d] = uint32(len(o.frames)) + 1
	}
	f.number = o.frames[d]
}

// react returns a node's reaction to an event, remembered or computed.
func (o *memo) react(rules *rules, n *node, e event, f frame) (*reaction, error) {
	s := stimulus{e.kind, e.other, 0, f.number}
	if e.kind == evHeal {
		s.incarnation = f.incarnation
	}
	if r := n.known.reactions[s]; r != nil {
		return r, nil
	}
	r := &reaction{rules: rules, at: e.at, n: n.clone(), abandoned: proto.NoProc}
	if err := r.to(e, f); err != nil {
		return nil, err
	}
	r.n = o.node(r.n)
	for i := range r.sends {
		o.frame(&r.sends[i].frame)
	}
	n.known.reactions[s] = r
	return r, nil
}

// queue is the content of a channel; nil if that is empty. A queue that a memo keeps doesn't
// change.
type queue struct {
	frames []frame
	number uint32            // from 1
	rest   *queue            // without the first frame; nil until known
	with   map[uint32]*queue // with one more frame, by that frame's number
}

func (o *memo) queue(frames []frame) *queue {
	if len(frames) == 0 {
		return nil
	}
	var key []byte
	for _, f := range frames {
		key = binary.AppendUvarint(key, uint64(f.number))
	}
	q := o.queues[string(key)]
	if q == nil {
		q = &queue{frames: frames, number: uint32(len(o.queues)) + 1, with: make(map[uint32]*queue)}
		o.queues[string(key)] = q
	}
	return q
}

// pop takes the first frame out of a channel.
func (w *world) pop(c **queue) frame {
	q := *c
	f := q.frames[0]
	switch {
	case len(q.frames) == 1:
		*c = nil
	case w.memo == nil:
		q.frames = q.frames[1:]
	default:
		if q.rest == nil {
			q.rest = w.memo.queue(q.frames[1:])
		}
		*c = q.rest
	}
	return f
}

// push appends a frame to a channel.
func (w *world) push(c **queue, f frame) {
	switch q := *c; {
	case w.memo == nil && q == nil:
		*c = &queue{frames: []frame{f}}
	case w.memo == nil:
		q.frames = append(q.frames, f)
	case q == nil:
		*c = w.memo.queue([]frame{f})
	default:
		next := q.with[f.number]
		if next == nil {
			next = w.memo.queue(append(slices.Clone(q.frames), f))
			q.with[f.number] = next
		}
		*c = next
	}
}

// drop removes from a channel the frames of all incarnations up to a dead one.
func (w *world) drop(c **queue, incarnation proto.Incarnation) {
	if *c == nil {
		return
	}
	frames := slices.DeleteFunc(slices.Clone((*c).frames), func(f frame) bool { return f.incarnation <= incarnation })
	switch {
	case w.memo != nil:
		*c = w.memo.queue(frames)
	case len(frames) == 0:
		*c = nil
	default:
		(*c).frames = frames
	}
}
