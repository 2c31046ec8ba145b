package logp

import (
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Machines are the protocol machines of all processes of a run.
type Machines interface {
	// Receive hands a message to a process.
	Receive(now proto.Time, self, from int, kind uint8)
	// SendReady returns the next message of a process that could send, if it
	// has one. A process without one is asked again after its next receive, or
	// at the deadline.
	SendReady(now proto.Time, self int) (to int, kind uint8, ok bool)
	// Deadline is a time after now at which all processes are asked again, or
	// proto.Never.
	Deadline(now proto.Time) proto.Time
	// KindName is a kind's name in traces.
	KindName(kind uint8) string
}

// Network is processes that send messages in LogP time. It may be used for many
// runs, one after the other.
type Network struct {
	latency, overhead proto.Time
	failed            Set

	now        proto.Time
	sending    stage[int32]   // who is busy sending
	travelling stage[message] // on their way, send overhead included
	receiving  stage[message] // being received
	toSend     agenda         // who is asked for a message at this instant

	flags   []uint8
	waiting []list    // messages that have arrived while the process was receiving
	slots   []arrival // of all lists
	free    int32     // the first free slot, or none
	stats   Activity
	trace   *trace.Writer
	tick    func(messages int)
}

const (
	isSending   = 1 << iota // has not ended its last send
	isReceiving             // has not ended its last receive
)

type message struct {
	from, to int32
	kind     uint8
}

// list is a queue of slots; both ends are none if it is empty.
type list struct{ head, tail int32 }

type arrival struct {
	from, next int32
	kind       uint8
}

const none = -1

// Activity is what happened on a network.
type Activity struct {
	Messages   int        // sent, also to dead processes
	Quiescence proto.Time // the end of the last receive, or arrival at a dead process
}

// progressEvery is how many messages go between two calls of a progress
// function.
const progressEvery = 1 << 16

// reset prepares for a run with so many processes, of which some are dead. It
// keeps the memory of earlier runs.
func (n *Network) reset(procs int, latency, overhead proto.Time, failed Set) {
	n.latency, n.overhead, n.failed = latency, overhead, failed
	n.now, n.stats = 0, Activity{}
	n.sending.clear()
	n.travelling.clear()
	n.receiving.clear()
	if len(n.flags) != procs {
		n.flags = make([]uint8, procs)
		n.waiting = make([]list, procs)
		n.toSend = newAgenda(procs)
	}
	clear(n.flags)
	for i := range n.waiting {
		n.waiting[i] = list{none, none}
	}
	n.slots, n.free = n.slots[:0], none
}

// run drives the machines until nothing is under way and no deadline is left.
func (n *Network) run(m Machines) Activity {
	ask := func(p int32) { n.send(m, p) }
	n.askAll()
	n.toSend.drain(ask)
	deadline := m.Deadline(n.now)
	for {
		n.now = min(n.receiving.next(), n.travelling.next(), n.sending.next(), deadline)
		if n.now == proto.Never {
			return n.stats
		}
		for range n.receiving.ending(n.now) {
			n.received(m, n.receiving.entries.pop())
		}
		for range n.travelling.ending(n.now) {
			n.arrive(m, n.travelling.entries.pop())
		}
		for range n.sending.ending(n.now) {
			p := n.sending.entries.pop()
			n.flags[p] &^= isSending
			n.toSend.add(p)
		}
		if n.now == deadline {
			n.askAll()
			deadline = m.Deadline(n.now)
		}
		n.toSend.drain(ask)
	}
}

// askAll puts all live processes that could send on the agenda.
func (n *Network) askAll() {
	for p, f := range n.flags {
		if f&isSending == 0 && !n.failed.Has(p) {
			n.toSend.add(int32(p))
		}
	}
}

// send begins a process's next send, if it has one.
func (n *Network) send(m Machines, p int32) {
	to, kind, ok := m.SendReady(n.now, int(p))
	if !ok {
		return
	}
	n.flags[p] |= isSending
	n.sending.push(n.now+n.overhead, p)
	n.travelling.push(n.now+n.overhead+n.latency, message{from: p, to: int32(to), kind: kind})
	n.stats.Messages++
	if n.tick != nil && n.stats.Messages%progressEvery == 0 {
		n.tick(n.stats.Messages)
	}
	if n.trace != nil {
		n.record(m, trace.Send, p, int32(to), kind)
	}
}

// arrive begins a message's receive, or lets it wait for that.
func (n *Network) arrive(m Machines, x message) {
	switch to := x.to; {
	case n.failed.Has(int(to)):
		n.stats.Quiescence = n.now
		if n.trace != nil {
			n.record(m, trace.Drop, to, x.from, x.kind)
		}
	case n.flags[to]&isReceiving != 0:
		n.wait(x)
	default:
		n.flags[to] |= isReceiving
		n.receiving.push(n.now+n.overhead, x)
	}
}

// received ends a receive, and begins that of the message that has waited longest.
func (n *Network) received(m Machines, x message) {
	n.stats.Quiescence = n.now
	if n.trace != nil {
		n.record(m, trace.Receive, x.to, x.from, x.kind)
	}
	m.Receive(n.now, int(x.to), int(x.from), x.kind)
	if n.flags[x.to]&isSending == 0 {
		n.toSend.add(x.to)
	}
	l := &n.waiting[x.to]
	if l.head == none {
		n.flags[x.to] &^= isReceiving
		return
	}
	i := l.head
	s := &n.slots[i]
	n.receiving.push(n.now+n.overhead, message{from: s.from, to: x.to, kind: s.kind})
	l.head = s.next
	if l.head == none {
		l.tail = none
	}
	s.next, n.free = n.free, i
}

// wait puts a message at the end of its receiver's list.
func (n *Network) wait(x message) {
	i := n.free
	if i != none {
		n.free = n.slots[i].next
	} else {
		i = int32(len(n.slots))
		n.slots = append(n.slots, arrival{})
	}
	n.slots[i] = arrival{from: x.from, next: none, kind: x.kind}
	if l := &n.waiting[x.to]; l.tail == none {
		l.head, l.tail = i, i
	} else {
		n.slots[l.tail].next, l.tail = i, i
	}
}

func (n *Network) record(m Machines, event string, p, peer int32, kind uint8) {
	n.trace.Write(trace.Event{
		Time: n.now, Proc: proto.Proc(p), Event: event, Peer: proto.Proc(peer), Kind: m.KindName(kind),
	})
}
