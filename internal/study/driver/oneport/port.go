package oneport

import "banyan/internal/proto"

// port is the state of one node as the network sees it.
type port struct {
	deadline proto.Time // for which there is a timer
	out      list       // to be sent; the first is under way while sending
	waiters  list       // nodes whose first message waits for this node's receiving port
	in       list       // received while stopped
	waitNext int32      // of the nodes that wait for the same receiver
	stops    int32      // that hold the node
	state    portState
}

type portState uint8

const (
	dead portState = 1 << iota
	sending
	waiting // for its receiver's port
	receiving
)

var idle = port{deadline: proto.Never, out: empty, waiters: empty, in: empty, waitNext: none}

// call ends a call of a node's machine: it queues what the node sends.
func (w *Network[M]) call(node int32) {
	a := &w.ports[node]
	for i := range w.out {
		w.cells.push(&a.out, w.out[i].To, &w.out[i].Message)
	}
	if len(w.out) > 0 {
		w.begin(node)
	}
	w.watch(node)
}

// watch makes sure that there is a timer for the node's deadline. If that moves later, the old
// timer stays and sets a new one when it expires.
func (w *Network[M]) watch(node int32) {
	a := &w.ports[node]
	if d := w.nodes.Deadline(node); d < a.deadline && a.state&dead == 0 {
		a.deadline = d
		w.schedule(d, timer, node)
	}
}

// tick is a timer's event.
func (w *Network[M]) tick(node int32) {
	a := &w.ports[node]
	if a.state&dead != 0 || a.deadline > w.now {
		return // there is another timer
	}
	a.deadline = proto.Never
	if a.stops > 0 {
		return // wake looks after it
	}
	w.due(node)
}

// due calls Tick if a node's deadline has come.
func (w *Network[M]) due(node int32) {
	if w.nodes.Deadline(node) > w.now {
		w.watch(node)
		return
	}
	w.out = w.out[:0]
	w.nodes.Tick(w.now, node, &w.out)
	if w.nodes.Deadline(node) <= w.now {
		panic("oneport: a node's deadline isn't after its Tick")
	}
	w.call(node)
}

// begin begins the transfer of a node's next message, if it can.
func (w *Network[M]) begin(node int32) {
	a := &w.ports[node]
	if a.state&(dead|sending|waiting) != 0 || a.out.first == none {
		return
	}
	c := &w.cells.all[a.out.first]
	b := &w.ports[c.other]
	if b.state&dead == 0 {
		if b.state&receiving != 0 {
			a.state |= waiting
			w.line(b, node)
			return
		}
		b.state |= receiving
	}
	a.state |= sending
	w.Sent[c.message.Kind()]++
	w.schedule(w.now+w.duration(), transfer, node)
}

// line puts a node at the end of those that wait for a receiver.
func (w *Network[M]) line(b *port, node int32) {
	w.ports[node].waitNext = none
	if b.waiters.first == none {
		b.waiters.first = node
	} else {
		w.ports[b.waiters.last].waitNext = node
	}
	b.waiters.last = node
}

// next begins the transfers that wait for a receiver, as long as that is free. A dead receiver
// always is: it takes any number of messages at a time.
func (w *Network[M]) next(b *port) {
	for b.waiters.first != none && b.state&receiving == 0 {
		node := b.waiters.first
		a := &w.ports[node]
		b.waiters.first = a.waitNext
		a.state &^= waiting
		w.begin(node)
	}
}

// transferred ends the transfer of a node's first message.
func (w *Network[M]) transferred(node int32) {
	a := &w.ports[node]
	var to int32
	to, w.taken = w.cells.pop(&a.out)
	a.state &^= sending
	if b := &w.ports[to]; b.state&dead == 0 {
		b.state &^= receiving
		switch {
		case w.cfg.Loss > 0 && w.rng.Float64() < w.cfg.Loss:
			w.Lost++
		case b.stops > 0:
			w.cells.push(&b.in, node, &w.taken)
		default:
			w.receive(to, node)
		}
		w.next(b)
	}
	w.begin(node)
}

// receive hands the taken message to its receiver.
func (w *Network[M]) receive(node, from int32) {
	w.Received++
	w.out = w.out[:0]
	w.nodes.Receive(w.now, node, from, &w.taken, &w.out)
	w.call(node)
}

// die is a node's crash. What it has begun to send goes on.
func (w *Network[M]) die(node int32) {
	a := &w.ports[node]
	if a.state&dead != 0 {
		return
	}
	under := 0
	if a.state&sending != 0 {
		under = 1
	}
	a.state = a.state&^receiving | dead
	w.cells.keep(&a.out, under)
	w.cells.keep(&a.in, 0)
	w.nodes.Crashed(w.now, node)
	w.next(a)
}

func (w *Network[M]) stall(node int32) { w.ports[node].stops++ }

// wake ends a stop. The node gets the messages first, then the time, as a process that was
// stopped does.
func (w *Network[M]) wake(node int32) {
	a := &w.ports[node]
	a.stops--
	if a.stops > 0 || a.state&dead != 0 {
		return
	}
	for a.in.first != none && a.state&dead == 0 {
		var from int32
		from, w.taken = w.cells.pop(&a.in)
		w.receive(node, from)
	}
	if a.state&dead == 0 {
		w.due(node)
	}
}
