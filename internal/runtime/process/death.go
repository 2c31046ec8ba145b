package process

import (
	"errors"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/once"
	"banyan/internal/proto/order"
)

// Evidence says that a process has certainly died, in its incarnations up to this one.
func (p *Process) Evidence(q proto.Proc, incarnation proto.Incarnation) {
	if p.excluded(q, incarnation) {
		p.certainlyOver(q)
		p.confirm(q)
	}
}

// excluded takes a process for dead, to which the membership doesn't wait for any more. It returns
// false if a later incarnation has replaced the process.
func (p *Process) excluded(q proto.Proc, incarnation proto.Incarnation) bool {
	if incarnation > p.peers[q].incarnation {
		p.Admit(q, incarnation)
	}
	if incarnation < p.peers[q].incarnation || q == p.cfg.Self {
		return false
	}
	if p.peers[q].state != peerLeft {
		p.gone(q, membership.Died) // even if it was only suspected before
	}
	p.suspect(q)
	return true
}

// Hearsay says that a process is taken for dead, in its incarnations up to this one, by a party
// that can be mistaken. It counts as dead, but to the membership it is silent.
func (p *Process) Hearsay(q proto.Proc, incarnation proto.Incarnation) {
	if incarnation > p.peers[q].incarnation {
		p.Admit(q, incarnation)
	}
	if incarnation == p.peers[q].incarnation && q != p.cfg.Self {
		p.suspect(q)
	}
}

// suspect has a process taken for dead.
func (p *Process) suspect(q proto.Proc) {
	p.liveness.detector.Evidence(p.now, q, p.peers[q].incarnation, &p.liveness.detectorOut)
	p.runDetector()
	if p.peers[q].state == peerJoining {
		p.died(detector.Report{Proc: q, Incarnation: p.peers[q].incarnation, Cause: detector.CauseEvidence, By: p.cfg.Self})
	}
}

// Left says that a process has left in order.
func (p *Process) Left(q proto.Proc) {
	if p.peers[q].state == peerLeft {
		return
	}
	if p.peers[q].state == peerDead { // it was held for dead, and had left
		p.certainlyOver(q)
	}
	p.departed(q)
	p.liveness.detector.Left(p.now, q, p.peers[q].incarnation, &p.liveness.detectorOut)
	p.runDetector()
}

// departed carries the departure of a process that left in order to every part that it concerns.
func (p *Process) departed(q proto.Proc) {
	if !p.peers[q].become(peerLeft) {
		return
	}
	p.endRetracts(p.cfg.Layout.Rank(q))
	p.replica.Left(q, &p.replicaOut)
	p.runReplica()
	p.orderTold(q, (*order.Machine).Left)
	p.onceTold(q, (*once.Machine).Gone)
	if p.verifying != nil {
		p.verifyGone(q)
	}
	p.shutdown.Gone(q, &p.shutdownOut)
	p.runShutdown()
	for _, c := range p.contexts.active {
		if i := c.index(p.cfg.Layout.Rank(q)); i >= 0 {
			c.stream.Left(p.now, i, &c.out)
			p.runStream(c)
		}
	}
	p.forgetClosed()
}

// connectionLost notes a connection that broke without proof of a death. The network can break
// any connection, at both ends at once. So the higher of the two waits for twice as long: by then
// it has heard that it is excluded, or the lower one is dead.
func (p *Process) connectionLost(q proto.Proc) {
	if !p.Alive(q) {
		return
	}
	wait := p.cfg.Timeout
	if q < p.cfg.Self {
		wait *= 2
	}
	p.liveness.broken = append(p.liveness.broken, brokenConnection{q, p.now + wait})
}

// died carries a death to every part that it concerns.
func (p *Process) died(r detector.Report) {
	q := r.Proc
	if r.Incarnation < p.peers[q].incarnation || !p.peers[q].become(peerDead) {
		return
	}
	if p.cfg.Recorder != nil {
		p.cfg.Recorder.Died(q)
	}
	if r.Cause == detector.CauseSilence {
		// It may be stopped rather than dead: what it says when it wakes isn't heard.
		p.sendEviction(q, r.Incarnation)
	}
	p.readKept(q, true)
	p.net.Fence(q)
	p.through.asks = slices.DeleteFunc(p.through.asks, func(a ask) bool { return a.from == q })
	p.voidTransfers(q)
	p.revoke() // buffers that only waited for q become the program's again, and q may live
	p.host.Died(r)

	p.replica.Dead(q, r.Incarnation, &p.replicaOut)
	p.runReplica()
	p.orderTold(q, (*order.Machine).Dead)
	p.onceTold(q, (*once.Machine).Gone)
	if p.verifying != nil {
		p.verifyGone(q)
	}
	rank := p.cfg.Layout.Rank(q)
	for _, c := range p.contexts.active {
		if i := c.index(rank); i >= 0 {
			c.stream.Dead(p.now, i, &c.out)
			p.runStream(c)
		}
	}
	p.forgetClosed()
	p.thinnedDied(q)
	switch j := p.healing.joining; {
	case p.replica.Lost(rank):
		p.rankGone(rank)
	case j != nil && !j.committed:
		j.bereaved = append(j.bereaved, rank)
	}
	p.healingDied(q)
	if !p.leased() {
		p.shutdown.Gone(q, &p.shutdownOut)
		p.runShutdown()
	}
	p.gone(q, membership.Silent)
}

// rankGone notes that a rank has no replica left.
func (p *Process) rankGone(rank proto.Rank) {
	if p.shows() {
		p.rankLost(rank)
	} else {
		p.thinned.host.RankGone(rank)
	}
}

// rankLost ends every wait that can't end well without the rank.
func (p *Process) rankLost(rank proto.Rank) {
	p.lifecycle.lost = append(p.lifecycle.lost, rank)
	p.contexts.noteLost(rank)
	p.endRetracts(rank)
	p.requests.each(func(h Handle, r *request) {
		if r.done {
			return
		}
		switch r.kind {
		case sending:
			if err := p.sendError(r.context, r.peer); err != nil {
				p.fail(h, r, err)
			}
		case receiving:
			if r.peer == proto.AnyRank && p.mayWarn(r) {
				p.warn(p.contexts.find(r.context), r)
			} else if err := p.receiveError(r.context, r.peer); err != nil {
				p.fail(h, r, err)
			}
		}
	})
	p.dropOffers(rank)
	p.Changes++
	p.host.RankLost(rank)
}

// hopeful tells whether a message may well come. If not, receiveError knows more. It is short, as
// inOrder is.
func (p *Process) hopeful(context uint64) bool {
	return p.healing.replay == nil && p.inOrder(context)
}

// receiveError is why no message that hasn't arrived yet can end a receive well, or nil.
func (p *Process) receiveError(context uint64, src proto.Rank) error {
	if p.healing.replay != nil && p.healing.replay.failed != nil {
		return p.healing.replay.failed
	}
	if p.inOrder(context) {
		return nil
	}
	if err := p.contextError(context); err != nil {
		return err
	}
	if src != proto.AnyRank {
		if p.lost(src) {
			return &LostError{Rank: src}
		}
		return p.collectiveError(context)
	}
	// Any source might be the lost one.
	if c := p.contexts.find(context); c != nil {
		if rank := p.unacknowledged(c); rank != proto.AnyRank {
			return p.loss(rank)
		}
	}
	return nil
}

// dropOffers forgets the offers of a lost rank that no receive has matched: their data is gone.
func (p *Process) dropOffers(rank proto.Rank) {
	p.match.DropUnexpected(func(token uint32) bool {
		_, a := p.receives.arrivals.at(token)
		if !a.offered || a.envelope.Src != rank {
			return false
		}
		a.from = proto.NoProc
		p.refuse(a)
		return true
	})
}

// collectiveError is the error of a point-to-point step of a collective that has lost a member.
// The members that have noticed have left the collective, so the others must leave it, too.
func (p *Process) collectiveError(context uint64) error {
	if c := p.contexts.find(context); c != nil && c.collective && len(c.failed) > 0 {
		return p.loss(c.failed[0])
	}
	return nil
}

// fail ends a request with an error, unless its data is on the way already.
func (p *Process) fail(h Handle, r *request, err error) {
	switch {
	case r.done && !r.pending || r.kind == composite:
		return
	case r.kind == receiving && r.arrival != (Handle{}):
		a := p.receives.arrivals.get(r.arrival)
		if a != nil && !p.lifecycle.fenced && a.from != proto.NoProc && p.peers[a.from].state != peerDead {
			return
		}
		if a != nil {
			// To the other replicas of its sender the message counts as received. Else
			// they would keep it, and offer it again, for ever.
			p.finishRendezvous(a, err)
			return
		}
	case r.kind == receiving:
		p.unpost(h, r)
	case r.kind == sending:
		if m := p.sends.messages.get(r.message); m != nil && r.message != (Handle{}) {
			if m.transfers > 0 {
				return // the end of the last one looks again
			}
			p.revoke()
			m.Body = nil // the program may reuse it now
			if lost := (*LostError)(nil); errors.As(err, &lost) {
				m.lost = lost.Rank
			} else if errors.Is(err, ErrRevoked) {
				m.lost = proto.AnyRank
			}
		}
	}
	r.resume()
	p.complete(h, r, err)
}
