package replication

import (
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/study/replication/pattern"
)

// send starts a send of the program, as Process.Send does.
func (n *node) send(op *pattern.Op) {
	c := &n.job.settings.Costs
	dst := n.around.localRank(op.Peer)
	context := contextOf(op.Collective)
	switch {
	case op.Bytes > replica.EagerLimit:
		n.underway++
		n.offered++
		m := n.message()
		*m = replica.Message{Context: context, Dst: dst, Tag: op.Tag, Total: uint64(op.Bytes), Rendezvous: true, User: uint64(n.newOffer(m)), Body: n.stamp()}
		n.machine.Send(m, &n.out)
		n.carryOut()
		n.tally.retains(n)
	case !n.job.replicated:
		n.spend(c.Overhead + c.copying(op.Bytes))
		n.put(n.proc(proto.Proc(dst)), &n.tally.messages, headerSize+op.Bytes, body{
			kind: eager, collective: op.Collective, tag: op.Tag, total: uint64(op.Bytes),
		})
	default:
		n.sendRetained(context, dst, op)
		if !n.hasRoom() {
			n.underway++
			n.room++
		}
	}
	if n.clock != nil && len(n.early) > 0 {
		n.deliverEarly()
	}
}

// sendRetained sends a message whole, and keeps a copy if other replicas may need it.
func (n *node) sendRetained(context uint64, dst proto.Rank, op *pattern.Op) {
	c := &n.job.settings.Costs
	n.spend(c.Replication + c.copying(op.Bytes+n.job.stampSize))
	s, ok := n.machine.SendOne(context, dst)
	if n.job.settings.Printed && (!ok || s.Pending()) {
		n.underway++
		n.offered++
	}
	if !ok {
		m := n.message()
		*m = replica.Message{Context: context, Dst: dst, Tag: op.Tag, Total: uint64(op.Bytes), Body: n.stamp()}
		n.machine.Send(m, &n.out)
		n.carryOut()
		n.tally.retains(n)
		return
	}
	stamp := n.stamp()
	if s.Pending() {
		m := n.message()
		*m = replica.Message{Context: context, Dst: dst, Tag: op.Tag, Total: uint64(op.Bytes), Body: stamp}
		n.machine.Retain(&s, m)
		n.tally.retains(n)
	}
	n.putMessage(s.To, body{kind: eager, collective: op.Collective, tag: op.Tag, seq: s.Seq, total: uint64(op.Bytes), stamp: stamp})
}

// stamp makes the causal stamp of a message that is sent.
func (n *node) stamp() []byte {
	if n.clock == nil {
		return nil
	}
	stamp := make([]byte, n.clock.StampSize())
	n.clock.Stamp(stamp)
	return stamp
}

// putMessage sends a message or its offer to a process of the neighbourhood.
func (n *node) putMessage(to proto.Proc, b body) {
	c := &n.job.settings.Costs
	size := n.job.stampSize
	if b.kind == eager {
		size += int64(b.total)
	}
	n.spend(c.Overhead + c.copying(size))
	count := &n.tally.messages
	if b.kind == offer {
		count = &n.tally.offers
	}
	n.put(n.proc(to), count, headerSize+size, b)
}

// put hands a frame to the port.
func (n *node) put(to proto.Proc, count *int64, size int64, b body) (arrival proto.Time) {
	*count++
	n.tally.bytes += size
	arrival = n.port.Send(n.now, to, uint32(size), b)
	if n.job.sent != nil {
		n.job.sent(arrival, n.self, to, b.kind, size)
	}
	return arrival
}

// carryOut carries out what replication asked for.
func (n *node) carryOut() {
	var arrival proto.Time
	c := &n.job.settings.Costs
	for i, inFrame := 0, 0; i < len(n.out); i++ {
		a := &n.out[i]
		switch a.Kind {
		case replica.Transmit:
			m := a.Message
			k := eager
			if m.Rendezvous {
				k = offer
			}
			n.putMessage(a.To, body{
				kind: k, collective: isCollective(m.Context), tag: m.Tag, id: uint32(m.User), seq: m.Seq, total: m.Total, stamp: m.Body,
			})
		case replica.Release:
			n.release(a.Message)
		case replica.Acknowledge:
			b := body{kind: ack, single: a.Single, collective: isCollective(a.Context), seq: a.Seq}
			n.tally.records++
			if inFrame > 0 && inFrame < acksPerFrame && n.out[i-1].Kind == replica.Acknowledge && n.out[i-1].To == a.To {
				b.kind = ackMore
				inFrame++
				n.port.Post(arrival, n.proc(a.To), b)
				break
			}
			inFrame = 1
			for j := i + 1; j < len(n.out) && n.out[j].Kind == replica.Acknowledge && n.out[j].To == a.To; j++ {
				inFrame++
			}
			n.spend(c.Acknowledge)
			arrival = n.put(n.proc(a.To), &n.tally.acks, headerSize+ackSize*int64(min(inFrame, acksPerFrame)), b)
			inFrame = 1
		case replica.Report:
			n.spend(c.Acknowledge)
			n.put(n.proc(a.To), &n.tally.reports, headerSize, body{kind: report, seq: a.Seq})
		case replica.Redirect:
			n.redirects = append(n.redirects, *a)
		case replica.Tell:
			n.tell(a)
		case replica.Handover:
			n.heal.handover = true // this may be in the middle of something
		case replica.Healed:
			n.welcomed()
		}
		a.Message = nil
	}
	n.out = n.out[:0]
	for len(n.redirects) > 0 { // may call replication
		a := n.redirects[0]
		n.redirects = n.redirects[1:]
		n.redirected(a.To, a.Context, a.Seq)
	}
}

// message gives a message of no content.
func (n *node) message() *replica.Message {
	if len(n.spare) == 0 {
		chunk := make([]replica.Message, 8)
		for i := range chunk {
			n.spare = append(n.spare, &chunk[i])
		}
	}
	m := n.spare[len(n.spare)-1]
	n.spare = n.spare[:len(n.spare)-1]
	return m
}

// release takes a message back: no replica needs it any more.
func (n *node) release(m *replica.Message) {
	if m.Rendezvous {
		n.offers[m.User] = nil
	}
	if m.Rendezvous || n.job.settings.Printed {
		n.underway--
		n.offered--
	}
	n.spare = append(n.spare, m)
	n.tally.retains(n)
}

// newOffer notes an offered message under a number.
func (n *node) newOffer(m *replica.Message) (id int) {
	for id = range n.offers {
		if n.offers[id] == nil {
			n.offers[id] = m
			return id
		}
	}
	n.offers = append(n.offers, m)
	return len(n.offers) - 1
}
