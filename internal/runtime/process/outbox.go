package process

import "banyan/internal/proto"

// outbox is what a program in leader order has sent and replication hasn't got yet. A message waits
// until all replicas of the rank know what it may depend on (output commit). So what replication
// has sent, and keeps for others, depends on nothing that a replica of the rank could decide
// otherwise: it is sent again, and is part of a donor's state, without a question. All that isn't
// the program's leaves at once: acknowledgements and the data of offers say nothing that a decision
// could change.
type outbox struct {
	messages []heldMessage // in the order in which they were sent
	bytes    int           // of those that are copies
}

// heldMessage is a message that waits.
type heldMessage struct {
	message Handle
	after   uint64 // how many decisions must be known
}

// holdsOutput tells whether what the program sends now waits for others to know of decisions. They
// are told then of those that they haven't heard of.
func (p *Process) holdsOutput() bool {
	o := p.order
	if o == nil || o.m.Len() == 0 && o.made.empty() { // nothing was ever decided
		return false
	}
	p.decide()
	if o.m.Stable() == o.m.Len() {
		if o.untold > 0 && o.due == proto.Never {
			o.due = p.now + tellAfter
		}
		return len(o.outbox.messages) > 0
	}
	p.tellDecisions()
	return len(o.outbox.messages) > 0 || o.m.Stable() < o.m.Len()
}

// withhold keeps a message back.
func (p *Process) withhold(mh Handle, m *message) {
	b := &p.order.outbox
	b.messages = append(b.messages, heldMessage{mh, p.order.m.Len()})
	b.bytes += len(m.wire)
}

// releaseOutput sends what waits for nothing any more.
func (p *Process) releaseOutput() {
	b := &p.order.outbox
	if len(b.messages) == 0 {
		return
	}
	stable, n := p.order.m.Stable(), 0
	for ; n < len(b.messages) && b.messages[n].after <= stable; n++ {
		mh := b.messages[n].message
		m := p.sends.messages.get(mh)
		b.bytes -= len(m.wire)
		p.dispatch(m)
	}
	if n > 0 {
		p.Changes++
	}
	b.messages = b.messages[:copy(b.messages, b.messages[n:])]
}

// dispatch hands a message to replication, which may release it.
func (p *Process) dispatch(m *message) {
	context, dst, tag, rendezvous, data := m.Context, m.Dst, m.Tag, m.Rendezvous, m.Body
	if !rendezvous && p.clock != nil {
		data = m.wire[:m.Total]
	}
	p.replica.Send(&m.Message, &p.replicaOut)
	seq := m.Seq
	p.runReplica()
	if p.verifying != nil {
		p.verifySent(context, dst, seq, rendezvous, tag, data)
	}
}

// sentAll tells whether nothing that the program has sent waits for replicas of its rank to know
// what it depends on.
func (p *Process) sentAll() bool { return p.order == nil || len(p.order.outbox.messages) == 0 }

// OutputSent tells whether replication has all that the program has sent. A donor waits for that: a
// replacement would take for sent what waits here, and the donor may die.
func (p *Process) OutputSent() bool {
	p.holdsOutput() // the others are told of decisions
	return p.sentAll()
}
