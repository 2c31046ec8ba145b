package logp

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Network is processes that send messages in LogP time, all with the same latency and overhead.
// It can be used for many runs, one after the other.
type Network struct {
	latency, overhead proto.Time

	now    proto.Time
	wire   wire           // messages being sent, on their way, or received at once
	late   stage[Message] // being received after they had to wait
	toSend agenda         // processes to ask for a message at this instant

	flags   []uint8 // of each process
	waiting []list  // of each process that isAwaited; nil if there never was one
	slab    slab    // of all lists
	asked   []int32 // room for a chunk of processes, and for their messages
	answers []Message

	stats Activity
	trace *trace.Writer
	tick  func(messages int)
	kinds *kindCounts // counted if not nil
}

const (
	isSending   = 1 << iota // has not ended its last send
	isReceiving             // has not ended its last receive
	isAwaited               // messages have arrived while it was receiving: it has a list
	isDead
)

// A chunk is how many processes are asked for a message at once: few enough for the first-level
// cache, or with very many processes enough for two cores to share.
const (
	chunk      = 256
	largeChunk = 1 << 16
)

// chunkOf is the chunk for so many processes.
func chunkOf(procs int) int {
	if procs < fewProcs {
		return chunk
	}
	return largeChunk
}

// progressEvery is the least number of messages between two calls of a progress function.
const progressEvery = 1 << 16

// reset prepares for a run with so many processes, of which some are dead. It
// keeps the memory of earlier runs.
func (n *Network) reset(procs int, latency, overhead proto.Time, failed Set) {
	n.latency, n.overhead = latency, overhead
	n.now, n.stats = 0, Activity{}
	n.wire.clear()
	n.late.clear()
	n.wire.room(roomFor(procs, latency, overhead))
	if len(n.flags) != procs {
		n.flags = makeHuge[uint8](&n.wire.pages, procs)
		n.toSend = newAgenda(procs)
		n.waiting = nil
		if size := chunkOf(procs); len(n.asked) != size {
			n.asked, n.answers = make([]int32, size), make([]Message, size)
		}
	}
	clear(n.flags)
	failed.each(func(p int) { n.flags[p] = isDead })
	n.slab.reset()
}

// roomFor is the number of messages if all processes send all the time, up to a limit; beyond
// it the wire grows when needed.
func roomFor(procs int, latency, overhead proto.Time) int {
	return procs * int(min(4, 2+(latency+overhead-1)/overhead))
}

// run drives the machines until nothing is under way and no deadline is left.
func (n *Network) run(m Machines) Activity {
	w := &n.wire
	sent := n.overhead
	arrived := sent + n.latency
	received := arrived + n.overhead
	n.askAll()
	n.send(m)
	for {
		deadline := m.Deadline(n.now)
		n.now = min(deadline, n.late.next(), w.next(0, received), w.next(w.arrived, arrived), w.next(w.sent, sent))
		if n.now == proto.Never {
			return n.stats
		}
		if late := n.late.ending(n.now); late > 0 {
			for _, part := range n.late.entries.First(late) {
				n.received(m, part)
			}
			n.late.entries.Drop(late)
		}
		if w.next(0, received) == n.now {
			b := w.batches.Pop()
			w.sent, w.arrived = w.sent-1, w.arrived-1
			for _, part := range w.messages(b.at, b.started) {
				n.received(m, part)
			}
		}
		// Ends of sends may come before arrivals, since they don't depend on them.
		var ended [2][]Message
		if w.next(w.sent, sent) == n.now {
			b := w.batches.At(w.sent)
			w.sent++
			ended = w.messages(b.at, b.count)
		}
		// Processes that have ended a send are asked for the next. Usually no others are, and
		// these are in order already. Messages that arrive at once are moved, though.
		again := n.latency > 0 && n.now != deadline && !n.toSend.some
		if !again {
			n.endSends(ended)
		}
		if w.next(w.arrived, arrived) == n.now {
			n.arrive(m, w.batches.At(w.arrived))
			w.arrived++
		}
		if n.now == deadline {
			n.askAll()
		}
		if again {
			n.sendAgain(m, ended)
		} else {
			n.send(m)
		}
	}
}

// askAll puts all live processes that could send on the agenda.
func (n *Network) askAll() {
	for p, f := range n.flags {
		if f&(isSending|isDead) == 0 {
			n.toSend.add(int32(p))
		}
	}
}

// endSends puts the senders of messages on the agenda.
func (n *Network) endSends(ended [2][]Message) {
	for _, part := range ended {
		for _, x := range part {
			n.flags[x.From()] &^= isSending
			n.toSend.add(int32(x.From()))
		}
	}
}

// sendAgain begins the next sends of the senders of messages, if they have one.
func (n *Network) sendAgain(m Machines, ended [2][]Message) {
	for _, part := range ended {
		for some := range slices.Chunk(part, len(n.asked)) {
			asked := n.asked[:len(some)]
			for i, x := range some {
				n.flags[x.From()] &^= isSending
				asked[i] = int32(x.From())
			}
			n.ask(m, asked)
		}
	}
}

// send begins the next sends of the processes on the agenda that have one.
func (n *Network) send(m Machines) {
	for next := 0; next >= 0; {
		var asked []int32
		if asked, next = n.toSend.take(next, n.asked[:0]); len(asked) > 0 {
			n.ask(m, asked)
		}
	}
}

// ask begins the next sends of up to a chunk of processes.
func (n *Network) ask(m Machines, asked []int32) {
	messages := m.Send(n.now, asked, n.answers[:0])
	if len(messages) == 0 {
		return
	}
	n.wire.push(n.now, messages)
	for _, x := range messages {
		n.flags[x.From()] |= isSending
	}
	if n.trace != nil {
		for _, x := range messages {
			record(n.trace, m, n.now, trace.Send, x.From(), x.To(), x.Kind())
		}
	}
	if n.kinds != nil {
		n.kinds.add(messages)
	}
	before := n.stats.Messages
	n.stats.Messages += len(messages)
	if n.tick != nil && before/progressEvery != n.stats.Messages/progressEvery {
		n.tick(n.stats.Messages)
	}
}

// arrive begins a batch's receives, where they needn't wait.
func (n *Network) arrive(m Machines, b *batch) {
	first := b.at
	mask := uint(len(n.wire.ring) - 1)
	at := first
	for _, part := range n.wire.messages(b.at, b.count) {
		for _, x := range part {
			f := &n.flags[x.To()]
			switch {
			case *f&(isReceiving|isDead) == 0:
				*f |= isReceiving
				n.wire.ring[at&mask] = x
				at++
			case *f&isDead == 0:
				n.wait(x)
			default:
				n.stats.Lost++
				n.stats.Quiescence = n.now
				if n.trace != nil {
					record(n.trace, m, n.now, trace.Drop, x.To(), x.From(), x.Kind())
				}
			}
		}
	}
	b.started = int(at - first)
}

// received ends receives, and begins those of the messages that have waited
// longest.
func (n *Network) received(m Machines, messages []Message) {
	if len(messages) == 0 {
		return
	}
	n.stats.Quiescence = n.now
	if n.trace == nil {
		m.Receive(n.now, messages)
	} else {
		for i, x := range messages {
			record(n.trace, m, n.now, trace.Receive, x.To(), x.From(), x.Kind())
			m.Receive(n.now, messages[i:i+1])
		}
	}
	for _, x := range messages {
		f := &n.flags[x.To()]
		if *f&isSending == 0 {
			n.toSend.add(int32(x.To()))
		}
		if *f&isAwaited != 0 {
			n.late.push(n.now+n.overhead, n.longestWaiting(x.To()))
		} else {
			*f &^= isReceiving
		}
	}
}

// wait puts a message at the end of its receiver's list.
func (n *Network) wait(x Message) {
	if n.waiting == nil {
		n.waiting = make([]list, len(n.flags))
	}
	l, f := &n.waiting[x.To()], &n.flags[x.To()]
	if *f&isAwaited == 0 {
		*f |= isAwaited
		*l = emptyList
	}
	n.slab.push(l, x)
}

// longestWaiting takes the first message of a process's list.
func (n *Network) longestWaiting(p int) Message {
	l := &n.waiting[p]
	x := n.slab.pop(l)
	if l.empty() {
		n.flags[p] &^= isAwaited
	}
	return x
}

// record writes an event of a process and a message to or from a peer.
func record(t *trace.Writer, m Machines, now proto.Time, event string, p, peer int, kind uint8) {
	t.Write(trace.Event{
		Time: now, Proc: proto.Proc(p), Event: event, Peer: proto.Proc(peer), Kind: m.KindName(kind),
	})
}
