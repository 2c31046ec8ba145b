package replication

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/study/replication/pattern"
)

// arrival is a message that has come, or its offer, and isn't in a buffer of the program yet.
type arrival struct {
	src        proto.Rank // in the neighbourhood
	collective bool
	offered    bool
	bound      bool       // to a receive
	from       proto.Proc // of the neighbourhood: where to pull it from; NoProc: not known
	id         uint32     // of the offer there
	tag        int32
	seq, total uint64
	stamp      []byte
}

// receive posts a receive of the program.
func (n *node) receive(op *pattern.Op) {
	src := op.Peer
	if src != proto.AnyRank {
		src = n.around.localRank(src)
	}
	token, ok := n.queues.Post(match.Envelope{Context: contextOf(op.Collective), Src: src, Tag: op.Tag}, 0)
	if !ok {
		return
	}
	a := &n.arrivals[token]
	n.learned = appendStamp(n.learned, a.stamp)
	if a.offered {
		a.bound = true
		n.pull(token)
		return
	}
	n.spend(n.job.settings.Costs.copying(int64(a.total)))
	n.received(a.src, a.total)
	n.vacate(token)
}

// received ends a receive of an eager message.
func (n *node) received(src proto.Rank, total uint64) {
	n.underway--
	if n.job.settings.Mirror && n.machine.Received(total+replica.RetainCost) {
		n.machine.Report(&n.out)
		n.carryOut()
	}
}

// take takes a frame.
func (n *node) take(f *frame) {
	c := &n.job.settings.Costs
	switch f.Body.kind {
	case eager, offer:
		n.spend(c.Overhead + c.copying(int64(f.Size)-headerSize))
		if !n.job.replicated && f.Body.kind == eager {
			n.deliver(f)
			return
		}
		if n.job.replicated {
			n.spend(c.Replication)
		}
		n.copyArrived(f)
	case pull:
		n.spend(c.Overhead)
		n.pulled(f)
	case data:
		n.spend(c.Overhead*fragments(f.Body.total) + c.copying(int64(f.Body.total)))
		n.dataArrived(f)
	case ack, ackMore:
		if f.Body.kind == ack {
			n.spend(c.Acknowledge)
		}
		n.machine.Acked(n.local(f.From), f.Body.context(), f.Body.seq, f.Body.single, &n.out)
		n.carryOut()
	case report:
		n.spend(c.Acknowledge)
		n.machine.Reported(n.local(f.From), f.Body.seq)
	case note:
		n.spend(c.Overhead)
		n.noted(f)
	case healed:
		n.spend(c.Overhead)
		n.healed(f.From)
	case news:
		n.heard(f)
	case help:
		n.help(&f.Body)
	}
}

// copyArrived takes one of the copies of a message, or an offer: first replication, then
// causality, then matching, as in Process.
func (n *node) copyArrived(f *frame) {
	from := n.local(f.From)
	b := &f.Body
	switch n.machine.Arrive(from, b.context(), b.seq, b.kind == offer) {
	case replica.Accept:
		n.resumed(from, f)
		if n.clock != nil && (len(n.early) > 0 || !n.clock.Ready(b.stamp)) && n.postponed(f) {
			break
		}
		n.deliver(f)
	case replica.Reoffer:
		n.reoffered(from, f)
		n.duplicateArrived(f)
	case replica.Duplicate:
		n.tally.duplicates++
		n.duplicateArrived(f)
		if b.kind == offer {
			n.flushAcks()
		}
	case replica.Spare:
		n.alternatives = append(n.alternatives, alternative{from: from, context: b.context(), seq: b.seq, id: b.id})
		n.duplicateArrived(f)
	case replica.Invalid:
		panic("replication: a frame that no correct process sends")
	}
	if !n.job.replicated {
		return
	}
	size := n.job.stampSize
	if b.kind == eager {
		size += int64(b.total)
	}
	if n.pace.Owe(n.machine.AcksOwed(), int(size), n.now) {
		n.flushAcks()
	}
}

// deliver brings a message to matching.
func (n *node) deliver(f *frame) {
	b := &f.Body
	from := n.local(f.From)
	src := proto.Rank(int(from) % len(n.around.ranks))
	e := match.Envelope{Context: b.context(), Src: src, Tag: b.tag}
	_, ok := n.queues.Claim(e)
	if ok && b.kind == eager {
		n.learned = appendStamp(n.learned, b.stamp)
		n.received(src, b.total)
		return
	}
	token := n.newArrival()
	n.arrivals[token] = arrival{
		src: src, collective: b.collective, offered: b.kind == offer, bound: ok, from: from, id: b.id,
		tag: b.tag, seq: b.seq, total: b.total, stamp: b.stamp,
	}
	if b.kind == offer && b.receiver == forgotten {
		n.arrivals[token].from = proto.NoProc
	}
	if ok {
		n.learned = appendStamp(n.learned, b.stamp)
		n.pull(token)
		return
	}
	n.tally.unexpected++
	n.queues.Keep(e, token)
}

func (n *node) newArrival() uint32 {
	if k := len(n.vacant); k > 0 {
		token := n.vacant[k-1]
		n.vacant = n.vacant[:k-1]
		return token
	}
	n.arrivals = append(n.arrivals, arrival{})
	return uint32(len(n.arrivals) - 1)
}

func (n *node) vacate(token uint32) {
	n.arrivals[token] = arrival{}
	n.vacant = append(n.vacant, token)
}

// flushAcks tells other replicas what has arrived.
func (n *node) flushAcks() {
	if n.machine.AcksOwed() > 0 {
		n.pace.Flushed()
		n.machine.FlushAcks(&n.out)
		n.carryOut()
	}
}
