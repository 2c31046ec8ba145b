package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
)

// receives are the messages that arrive.
type receives struct {
	arrivals     slab[arrival]
	early        []early          // messages that wait for their cause
	alternatives alternatives     // offers of other senders of what is being received
	redirects    []replica.Action // to alternatives; to be carried out
	reading      []Handle         // arrivals whose data is being read from the sender's memory
}

// forgetSender forgets what a sender has offered. The messages stay: another replica offers
// them again.
func (s *receives) forgetSender(q proto.Proc) {
	s.arrivals.each(func(_ Handle, a *arrival) {
		if a.offered && a.from == q {
			a.from = proto.NoProc
		}
	})
	for i := range s.early {
		if s.early[i].from == q {
			s.early[i].from = proto.NoProc
		}
	}
	s.alternatives.dropFrom(q)
}

// arrival is a message that has come (its body or its offer) and isn't in a buffer of the
// program yet.
type arrival struct {
	envelope match.Envelope
	total    uint64
	typ      uint32 // of its data; 0: unknown
	number   uint32 // eager: by which its sender may ask it back (retract.go); 0: it can't
	body     []byte // eager: pooled
	stamp    []byte // with replicas; its memory stays with the entry
	self     Handle
	sender   Handle // a synchronous send of this very process, which waits to be matched
	taken    bool   // by a matched probe
	zeroCopy bool   // eager, in the buffer of its request (zerocopy.go); from is the sender
	// A rendezvous:
	offered  bool
	from     proto.Proc // its present sender; NoProc: none yet
	offer    wire.Offer // its Memory is 0 where the data has to be asked for
	seq      uint64
	request  Handle // the receive that it is bound to; zero while unexpected
	logged   int    // its number in the log, or 0
	wanted   uint64 // how much of it fits the buffer
	received uint64
	asked    bool // counted in attention.asked
}

// Receive posts a receive. src and tag may be wildcards. The buffer stays borrowed until the
// request has ended. Of a message that is larger the buffer gets what fits, and the request ends
// with ErrTruncated.
func (p *Process) Receive(context uint64, src proto.Rank, tag int32, buffer []byte) Handle {
	h, r := p.newRequest(receiving)
	r.buffer, r.context, r.peer, r.tag = buffer, context, src, tag
	e := match.Envelope{Context: context, Src: src, Tag: tag}
	if p.special && p.specially(&e) {
		p.receiveSpecially(h, r, e)
		return h
	}
	token, ok := p.match.Post(e, h.index) // as post does: here a call would cost each receive
	if ok {
		ah, a := p.receives.arrivals.at(token)
		p.accept(h, r, ah, a)
		return h
	}
	r.posted = token
	if p.hopeful(context) {
		return h
	}
	if err := p.receiveError(context, src); err != nil {
		p.awaitsNone(h, r, err)
	}
	return h
}

// awaitsNone ends a receive, which has been posted, for which no message can come.
func (p *Process) awaitsNone(h Handle, r *request, err error) {
	if r.peer == proto.AnyRank && p.mayWarn(r) {
		p.warn(p.contexts.find(r.context), r)
		return
	}
	p.match.Cancel(r.posted)
	p.complete(h, r, err)
}

// specially tells whether a receive takes the long way: it names no source, or no tag, or others
// that do wait to be posted. All other receives are as in any program.
func (p *Process) specially(e *match.Envelope) bool {
	return e.Src < 0 || e.Tag < 0 || p.order != nil && len(p.order.held) > 0
}

// receiveSpecially is Receive in a program of several threads, and in leader order.
func (p *Process) receiveSpecially(h Handle, r *request, e match.Envelope) {
	switch {
	case p.refuses(e.Context, e.Src):
		p.complete(h, r, &UnorderedError{})
	case p.order == nil || !p.heldBack(h, r, &e):
		p.post(h, r, e)
	}
}

// post brings a receive to matching.
func (p *Process) post(h Handle, r *request, e match.Envelope) {
	token, ok := p.match.Post(e, h.index)
	if ok {
		ah, a := p.receives.arrivals.at(token)
		p.accept(h, r, ah, a)
		return
	}
	r.posted = token
	if err := p.receiveError(r.context, r.peer); err != nil {
		p.awaitsNone(h, r, err)
	}
}

// took notes which message a receive has taken, of which so many bytes had come with it.
func (p *Process) took(r *request, e match.Envelope, came int, offered bool) {
	if r.number != 0 {
		p.decideMatch(r, e, offered)
	}
	if p.cfg.Mirror && !offered {
		p.noteTaken(e.Src, came)
	}
}

// Probe looks for a message that has arrived and fits, without taking it. The error says why
// none can come any more.
func (p *Process) Probe(context uint64, src proto.Rank, tag int32) (Status, bool, error) {
	if p.refuses(context, src) {
		return Status{}, false, &UnorderedError{}
	}
	token, ok := p.match.Probe(match.Envelope{Context: context, Src: src, Tag: tag})
	if !ok {
		return Status{}, false, p.probeError(context, src)
	}
	_, a := p.receives.arrivals.at(token)
	return a.status(), true, nil
}

// MatchedProbe is a Probe that takes the message: no other probe or receive finds it. The Handle
// is for ReceiveMatched.
func (p *Process) MatchedProbe(context uint64, src proto.Rank, tag int32) (Handle, Status, bool, error) {
	if p.refuses(context, src) {
		return Handle{}, Status{}, false, &UnorderedError{}
	}
	token, ok := p.match.Take(match.Envelope{Context: context, Src: src, Tag: tag})
	if !ok {
		return Handle{}, Status{}, false, p.probeError(context, src)
	}
	ah, a := p.receives.arrivals.at(token)
	a.taken = true
	return ah, a.status(), true, nil
}

// probeError is why no probe finds a message that hasn't arrived yet, or nil.
func (p *Process) probeError(context uint64, src proto.Rank) error {
	if p.through.giving && p.forlorn(context, src) {
		return p.finishedError(src)
	}
	return p.receiveError(context, src)
}

// ReceiveMatched receives a message that a MatchedProbe has taken, once.
func (p *Process) ReceiveMatched(message Handle, buffer []byte) Handle {
	h, r := p.newRequest(receiving)
	a := p.receives.arrivals.get(message)
	if a == nil {
		p.complete(h, r, ErrMessage)
		return h
	}
	r.buffer, r.context, r.peer, r.tag = buffer, a.envelope.Context, a.envelope.Src, a.envelope.Tag
	if p.Revoked(r.context) {
		if a.offered {
			p.refuse(a)
		} else {
			p.dropArrival(message, a)
		}
		p.complete(h, r, ErrRevoked)
		return h
	}
	p.accept(h, r, message, a)
	return h
}

func (a *arrival) status() Status {
	return Status{Source: a.envelope.Src, Tag: a.envelope.Tag, Type: a.typ, Bytes: int(a.total)}
}

// accept brings an arrival and the receive that matched it together.
func (p *Process) accept(h Handle, r *request, ah Handle, a *arrival) {
	if p.watched {
		p.took(r, a.envelope, len(a.body), a.offered)
	}
	r.status = a.status()
	r.stamp, a.stamp = a.stamp, r.stamp
	p.matched(a)
	if a.offered {
		r.resume()
		a.request, r.arrival = h, ah
		if a.from == proto.NoProc { // no sender offers it yet
			if p.healing.replay != nil && p.healing.replay.failed != nil { // and none ever will
				p.finishRendezvous(a, p.healing.replay.failed)
			}
			return
		}
		if p.peers[a.from].state == peerDead { // a substitute offers it again, if there is one
			if err := p.receiveError(a.envelope.Context, a.envelope.Src); err != nil {
				p.finishRendezvous(a, err)
			}
			return
		}
		p.pull(a, r)
		return
	}
	if uint64(len(a.body)) < a.total {
		p.fillLogged(h, r, a.body, a.total)
	} else {
		p.fill(h, r, a.body)
	}
	p.dropArrival(ah, a)
}

// matched ends the synchronous send of this process to itself that an arrival comes from.
func (p *Process) matched(a *arrival) {
	if a.sender == (Handle{}) {
		return
	}
	if r := p.requests.get(a.sender); r != nil {
		p.complete(a.sender, r, nil)
	}
}

// fill ends a receive with the bytes of a message.
func (p *Process) fill(h Handle, r *request, body []byte) {
	r.resume()
	if copy(r.buffer, body) < len(body) {
		p.complete(h, r, truncated(r.status, r.buffer))
		return
	}
	p.complete(h, r, nil)
}

// dropArrival forgets an arrival and what it holds.
func (p *Process) dropArrival(ah Handle, a *arrival) {
	if a.asked {
		a.asked = false
		p.attention.asked--
	}
	if a.body != nil {
		p.buffers.put(a.body)
		a.body = nil
	}
	if a.sender != (Handle{}) {
		if r := p.requests.get(a.sender); r != nil {
			p.complete(a.sender, r, ErrFreed) // no receive can take it any more
		}
	}
	p.receives.arrivals.put(ah)
}

// onlyCopyArrived takes an eager message of an unreplicated job. Its sender is the only one to
// send it: there are no duplicates, and the transport keeps the order.
func (p *Process) onlyCopyArrived(from proto.Proc, h *wire.Header, f *payload) {
	if p.misrouted(h, f) || h.Src != proto.Rank(from) {
		return
	}
	if n := h.Completed(); n != 0 {
		p.noteCompleted(h.Context, h.Src, n)
	}
	p.deliver(from, h, f)
}

// copyArrived takes one of the copies of a message that replicas may send, or any offer. It
// goes to replication first, then to causality, then to matching.
func (p *Process) copyArrived(from proto.Proc, h *wire.Header, f *payload) {
	if p.misrouted(h, f) {
		return
	}
	verdict := replica.Accept
	if h.Kind != wire.KindEager || !p.replica.Next(from, h.Src, h.Context, h.Seq) {
		if h.Src != p.replica.Rank(from) {
			return
		}
		verdict = p.replica.Arrive(from, h.Context, h.Seq, h.Kind == wire.KindOffer)
	}
	switch verdict {
	case replica.Accept: // the next of its channel
		if p.layers.news(from, h) {
			p.mix(h.Flags)
		}
		if p.verifying != nil && h.Kind == wire.KindEager {
			p.verifyArrived(h, f.bytes)
		}
		if p.perturb != nil && p.delayed(from, h, f) {
			break
		}
		if p.clock != nil && (len(p.receives.early) > 0 || !p.clock.Ready(f.bytes)) && p.postponed(from, h, f) {
			break
		}
		p.deliver(from, h, f)
	case replica.Reoffer:
		p.reoffered(from, h)
		p.duplicateArrived(h, f.bytes)
	case replica.Duplicate:
		p.duplicateArrived(h, f.bytes)
		if h.Kind == wire.KindOffer {
			p.flushAcks() // its sender waits for the acknowledgement of what is here
		}
	case replica.Spare:
		p.receives.alternatives = append(p.receives.alternatives, alternative{from, *h})
		p.duplicateArrived(h, f.bytes)
	}
	p.oweAck(len(f.bytes))
}

// misrouted tells whether a message isn't for this process, or not now. It is dropped then: a
// peer that misroutes harms only itself.
func (p *Process) misrouted(h *wire.Header, f *payload) bool {
	return h.Dst != p.rank || len(f.bytes) != p.firstFrame(h) || p.healing.replay != nil
}

// firstFrame is how long the payload of a message's first frame is.
func (p *Process) firstFrame(h *wire.Header) int {
	n := 0
	if h.Kind == wire.KindEager {
		n = int(h.Total)
	}
	if p.clock != nil {
		n += p.clock.StampSize()
	}
	return n
}

// deliver brings a message to matching.
func (p *Process) deliver(from proto.Proc, h *wire.Header, f *payload) {
	body, stamp := f.bytes, []byte(nil)
	if p.clock != nil {
		end := len(body) - p.clock.StampSize()
		body, stamp = body[:end], body[end:]
	}
	e := match.Envelope{Context: h.Context, Src: h.Src, Tag: h.Tag}
	if p.healing.history != nil && h.Kind == wire.KindEager {
		p.healing.history.eager(e, uint32(h.Aux), stamp, body)
	}
	if h.Kind == wire.KindOffer {
		p.deliverOffer(from, h, e, stamp)
		return
	}
	if token, ok := p.match.Claim(e); ok {
		rh, r := p.requests.at(token)
		r.status, r.stamp = Status{Source: e.Src, Tag: e.Tag, Type: uint32(h.Aux), Bytes: len(body)}, append(r.stamp[:0], stamp...)
		p.fill(rh, r, body)
		if p.watched {
			p.took(r, e, len(body), false)
		}
		return
	}
	if p.contexts.revoked > 0 && p.belated(from, h.Context) {
		return
	}
	_, a := p.keep(e, h.Total)
	a.stamp, a.typ = append(a.stamp, stamp...), uint32(h.Aux)
	a.body = f.keep(&p.buffers, len(body))
	if !p.replicated {
		a.number = h.Number()
	}
}

func (p *Process) newArrival(e match.Envelope, total uint64) (Handle, *arrival) {
	ah, a := p.receives.arrivals.take()
	*a = arrival{envelope: e, total: total, self: ah, stamp: a.stamp[:0]}
	return ah, a
}

// keep keeps a message for a receive that is posted later.
func (p *Process) keep(e match.Envelope, total uint64) (Handle, *arrival) {
	ah, a := p.newArrival(e, total)
	p.match.Keep(e, ah.index)
	p.Changes++
	return ah, a
}

// sendSelf brings a message of this rank to itself, as a copy unless a receive waits for it.
// Every replica does so on its own: neither replication nor causality is involved.
func (p *Process) sendSelf(e match.Envelope, data []byte, number uint32, synchronous bool) Handle {
	if token, ok := p.match.Claim(e); ok {
		rh, r := p.requests.at(token)
		r.status = Status{Source: e.Src, Tag: e.Tag, Type: p.sends.typ, Bytes: len(data)}
		p.fill(rh, r, data)
		if r.number != 0 {
			p.decideMatch(r, e, false)
		}
		return Handle{}
	}
	_, a := p.keep(e, uint64(len(data)))
	a.body, a.typ, a.number = p.buffers.copyOf(data), p.sends.typ, number
	if !synchronous {
		return Handle{}
	}
	h, r := p.newRequest(sending)
	r.peer, r.context, r.tag, r.buffer = p.rank, e.Context, e.Tag, data
	a.sender = h
	return h
}
