package replication

import (
	"slices"

	"banyan/internal/proto"
)

// alternative is another process's offer of what is being received.
type alternative struct {
	from    proto.Proc // of the neighbourhood
	context uint64
	seq     uint64
	id      uint32
}

// pull asks the present sender of an offered message for its data.
func (n *node) pull(token uint32) {
	a := &n.arrivals[token]
	if a.from == proto.NoProc || !n.machine.Alive(a.from) {
		return // another process offers it again
	}
	n.spend(n.job.settings.Costs.Overhead)
	n.put(n.proc(a.from), &n.tally.pulls, headerSize, body{kind: pull, collective: a.collective, id: a.id, receiver: token, seq: a.seq})
}

// pulled answers it.
func (n *node) pulled(f *frame) {
	b := &f.Body
	from := n.local(f.From)
	if int(b.id) >= len(n.offers) {
		return
	}
	m := n.offers[b.id]
	if m == nil || m.Seq != b.seq || m.Context != b.context() || m.Dst != proto.Rank(int(from)%len(n.around.ranks)) {
		return // overtaken by an acknowledgement or a death
	}
	c := &n.job.settings.Costs
	parts := fragments(m.Total)
	n.spend(c.Overhead*parts + c.copying(int64(m.Total)))
	n.tally.data += int64(parts) - 1 // the port takes them as one
	n.put(f.From, &n.tally.data, headerSize*int64(parts)+int64(m.Total), body{
		kind: data, collective: b.collective, receiver: b.receiver, seq: m.Seq, total: m.Total,
	})
	n.machine.Delivered(m, from, &n.out)
	n.carryOut()
}

// dataArrived ends a receive.
func (n *node) dataArrived(f *frame) {
	b := &f.Body
	if int(b.receiver) >= len(n.arrivals) {
		return
	}
	a := &n.arrivals[b.receiver]
	if !a.offered || !a.bound || a.seq != b.seq || a.collective != b.collective || a.from != n.local(f.From) {
		return // what came from an earlier sender
	}
	context := contextOf(a.collective)
	n.dropAlternatives(a)
	n.machine.Completed(context, a.src, a.seq)
	n.vacate(b.receiver)
	n.underway--
	if n.job.replicated {
		n.flushAcks()
	}
}

func (n *node) dropAlternatives(a *arrival) {
	n.alternatives = slices.DeleteFunc(n.alternatives, func(o alternative) bool {
		return o.seq == a.seq && o.context == contextOf(a.collective) && n.sourceOf(o.from) == a.src
	})
}

// sourceOf is the rank of a process of the neighbourhood.
func (n *node) sourceOf(p proto.Proc) proto.Rank { return proto.Rank(int(p) % len(n.around.ranks)) }

// find is the arrival of an offered message that isn't complete.
func (n *node) find(src proto.Rank, context, seq uint64) (token uint32, ok bool) {
	for i := range n.arrivals {
		if a := &n.arrivals[i]; a.offered && a.seq == seq && a.src == src && contextOf(a.collective) == context {
			return uint32(i), true
		}
	}
	return 0, false
}

// redirected turns a message to another sender that has offered it: the first one is dead.
func (n *node) redirected(to proto.Proc, context, seq uint64) {
	i := slices.IndexFunc(n.alternatives, func(o alternative) bool { return o.from == to && o.context == context && o.seq == seq })
	if i < 0 {
		return
	}
	id := n.alternatives[i].id
	n.alternatives = slices.Delete(n.alternatives, i, i+1)
	n.turn(to, context, seq, id)
}

// reoffered turns a message to a sender that offers it after the first one's death.
func (n *node) reoffered(from proto.Proc, f *frame) {
	n.turn(from, f.Body.context(), f.Body.seq, f.Body.id)
}

func (n *node) turn(to proto.Proc, context, seq uint64, id uint32) {
	token, ok := n.find(n.sourceOf(to), context, seq)
	if !ok {
		n.turnEarly(to, context, seq, id)
		return
	}
	a := &n.arrivals[token]
	a.from, a.id = to, id
	if a.bound {
		n.pull(token)
	}
}
