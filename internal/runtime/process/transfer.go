package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

const (
	// fragmentSize is how much of a large message one frame carries, and fragmentsInFlight how
	// many fragments may wait in the transport: enough to keep a link busy, few enough that a
	// heartbeat isn't stuck behind them.
	fragmentSize      = 512 << 10
	fragmentsInFlight = 2
)

// transfer is the data of one rendezvous message on its way to one process.
type transfer struct {
	to       proto.Proc
	message  Handle
	receiver uint64 // the receiver's handle, as it came with the pull
	next     uint64 // offset of the next fragment
	end      uint64 // how much is wanted
	inFlight int    // fragments the transport holds
	handed   bool   // the transport has all of it
	void     bool   // the receiver is gone: only the end of the fragments is awaited
	answers  bool   // counted in sends.answered
}

// pulled answers a receiver that wants the data of an offer.
func (p *Process) pulled(from proto.Proc, h *wire.Header) {
	f := h.Pull()
	mh := handleOf(f.Sender)
	m := p.sends.messages.get(mh)
	if m == nil || m.released || !m.Rendezvous || m.Dst != p.cfg.Layout.Rank(from) || p.lifecycle.fenced {
		return // overtaken by an acknowledgement or a death
	}
	if m.Body == nil && !f.Discard {
		p.belated(from, m.Context) // a receiver that doesn't know yet hears it before it misses the data
		wire.Fragment{Receiver: f.Receiver, Wanted: f.Wanted, Withdrawn: true, Lost: m.lost}.Put(&p.header)
		p.send(from, &p.header, nil, 0)
	}
	if m.Body == nil || f.Discard || f.Wanted == 0 {
		p.replica.Delivered(&m.Message, from, &p.replicaOut)
		p.runReplica()
		return
	}
	th, t := p.sends.transfers.take()
	*t = transfer{to: from, message: mh, receiver: f.Receiver, end: min(f.Wanted, m.Total)}
	m.transfers++
	if p.attention.announced {
		t.answers = true
		p.sends.answered++
	}
	p.feed(th, t)
}

// feed hands the transport the next fragments of a transfer.
func (p *Process) feed(th Handle, t *transfer) {
	m := p.sends.messages.get(t.message)
	for t.inFlight < fragmentsInFlight && t.next < t.end {
		n := p.graduals.next(m.request, t.next, min(t.end-t.next, fragmentSize))
		wire.Fragment{Receiver: t.receiver, Offset: t.next, Wanted: t.end}.Put(&p.header)
		part := m.Body[t.next : t.next+n]
		t.next += n
		t.inFlight++
		p.send(t.to, &p.header, part, th.bits())
	}
	if t.next == t.end && !t.handed {
		// Now, and not when the transport has let go of it: by then its receiver may have
		// it, and be a donor with the message in its state.
		t.handed = true
		p.replica.Delivered(&m.Message, t.to, &p.replicaOut)
		p.runReplica()
	}
}

// Sent implements transport.Sink: a fragment has left.
func (p *Process) Sent(to proto.Proc, token uint64) {
	th := handleOf(token)
	t := p.sends.transfers.get(th)
	if t == nil {
		return
	}
	t.inFlight--
	if !t.void && t.next < t.end {
		p.feed(th, t)
		return
	}
	if t.inFlight == 0 {
		p.endTransfer(th, t)
	}
}

// endTransfer forgets a transfer of which the transport holds nothing more.
func (p *Process) endTransfer(th Handle, t *transfer) {
	mh := t.message
	m := p.sends.messages.get(mh)
	if t.answers {
		p.sends.answered--
	}
	p.sends.transfers.put(th)
	m.transfers--
	if r := p.requests.get(m.request); r != nil && m.transfers == 0 && !m.released {
		// The request wasn't ended by a loss that came meanwhile.
		if err := p.sendError(r.context, r.peer); err != nil {
			p.fail(m.request, r, err)
		}
	}
	p.settle(mh, m)
}

// voidTransfers gives up what is under way to a process that is gone. The transport still gives
// back what it has borrowed.
func (p *Process) voidTransfers(to proto.Proc) {
	p.sends.transfers.each(func(th Handle, t *transfer) {
		if t.to != to || t.void {
			return
		}
		t.void = true
		if t.inFlight == 0 {
			p.endTransfer(th, t)
		}
	})
}
