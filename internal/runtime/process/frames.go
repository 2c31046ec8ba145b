package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

var _ transport.Sink = (*Process)(nil)

// Frame implements transport.Sink.
func (p *Process) Frame(from proto.Proc, h *wire.Header, b []byte) {
	p.route(from, h, &payload{b, ownedByTransport})
}

// Dest implements transport.Sink. The data of a rendezvous, or of a message that a receive
// awaits, goes straight into the program's buffer, anything else into one from the pool.
func (p *Process) Dest(from proto.Proc, h *wire.Header) []byte {
	if h.Kind == wire.KindData {
		return p.fragmentDest(from, h)
	}
	if dest := p.zeroCopyDest(from, h); dest != nil {
		return dest
	}
	b := p.buffers.get(int(h.Length))
	p.peers[from].staging = b
	return b
}

// Arrived implements transport.Sink.
func (p *Process) Arrived(from proto.Proc, h *wire.Header) {
	if h.Kind == wire.KindData {
		p.received(from, h.Kind)
		if p.peers[from].state != peerDead {
			p.fragment(from, h)
		}
		return
	}
	if p.zeroCopyArrived(from, h) {
		return
	}
	f := payload{p.peers[from].staging, ownedByFrame}
	p.peers[from].staging = nil
	p.route(from, h, &f)
	f.release(&p.buffers)
}

// route hands a frame to the machine that it belongs to.
func (p *Process) route(from proto.Proc, h *wire.Header, f *payload) {
	peer := &p.peers[from]
	peer.contacted = true
	p.received(from, h.Kind)
	switch {
	case peer.state != peerJoining && peer.state != peerLeft && !p.liveness.detector.Alive(from):
		p.liveness.detector.Stranger(p.now, from, peer.incarnation, &p.liveness.detectorOut)
		p.runDetector()
	case h.Kind == wire.KindEager && !p.replicated:
		p.onlyCopyArrived(from, h, f)
	case h.Kind == wire.KindEager || h.Kind == wire.KindOffer:
		p.copyArrived(from, h, f)
	case h.Kind.OfBroadcast():
		p.broadcastArrived(from, h, f.keep(&p.buffers, len(f.bytes)))
	default:
		p.control(from, h, f.bytes)
	}
}

// control routes the frames that carry no data of the program.
func (p *Process) control(from proto.Proc, h *wire.Header, payload []byte) {
	switch h.Kind {
	case wire.KindPull:
		p.pulled(from, h)
	case wire.KindData:
		copy(p.fragmentDest(from, h), payload)
		p.fragment(from, h)
	case wire.KindAck:
		p.acksArrived(from, payload)
	case wire.KindReceived:
		p.replica.Reported(from, h.Received().Bytes)
	case wire.KindHeartbeat, wire.KindObserve, wire.KindNews, wire.KindReconcile, wire.KindProbe, wire.KindEviction:
		p.detectorArrived(from, h, payload)
	case wire.KindNote, wire.KindLog, wire.KindReady, wire.KindState, wire.KindHealed, wire.KindGiveUp:
		p.healingArrived(from, h, payload)
	case wire.KindMembership:
		p.membershipArrived(from, payload)
	case wire.KindDone:
		p.shutdown.Done(from, &p.shutdownOut)
		p.runShutdown()
	case wire.KindAllDone:
		p.shutdown.AllDone(from, &p.shutdownOut)
		p.runShutdown()
	case wire.KindGoodbye:
		p.Left(from)
	case wire.KindAbort:
		p.host.Aborted(from, int(h.Abort().Code))
	case wire.KindAgreement, wire.KindRevocation:
		p.pactArrived(from, h, payload)
	case wire.KindAsk:
		p.askArrived(from, h)
	case wire.KindThrough:
		p.throughArrived(from, h)
	case wire.KindMarker:
		if p.cfg.Marker != nil {
			p.cfg.Marker(from, h.Marker().Snapshot)
		}
	case wire.KindOrder:
		p.orderArrived(from, payload)
	case wire.KindOnce:
		p.onceArrived(from, payload)
	case wire.KindSettle:
		p.settleArrived(from, h, payload)
	case wire.KindTypeName:
		p.typeNameArrived(from, h, payload)
	case wire.KindRetract:
		p.retractArrived(from, h)
	case wire.KindRetracted:
		p.retractedArrived(from, h)
	case wire.KindNudge:
		p.Changes++ // the waiter that it is for may be another thread than the one that polls
	}
}

// Closed implements transport.Sink.
func (p *Process) Closed(peer proto.Proc, why transport.Evidence) {
	p.dropStaging(peer)
	p.peers[peer].zeroCopy = Handle{} // its receive ends when the peer is known to be dead
	p.voidTransfers(peer)
	switch {
	case p.peers[peer].state == peerLeft || p.lifecycle.finished:
	case why == transport.EvidenceExited:
		p.Evidence(peer, p.peers[peer].incarnation)
		p.testify(peer)
	case why == transport.EvidenceEviction:
		p.fence(peer)
	case why == transport.EvidenceLost:
		p.connectionLost(peer)
	}
}

// dropStaging gives up the frame that was arriving from a peer.
func (p *Process) dropStaging(q proto.Proc) {
	if b := p.peers[q].staging; b != nil {
		p.peers[q].staging = nil
		p.buffers.put(b)
	}
}

// fence ends everything: the job goes on without this process.
func (p *Process) fence(by proto.Proc) {
	if p.lifecycle.fenced || p.lifecycle.finished {
		return
	}
	p.lifecycle.fenced = true
	for q := range proto.Proc(p.cfg.Layout.Procs()) {
		p.voidTransfers(q)
	}
	p.requests.each(func(h Handle, r *request) { p.fail(h, r, ErrFenced) })
	p.endAgreements(ErrFenced)
	p.endOnce(ErrFenced)
	p.host.Fenced(by)
}
