package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/shutdown"
	"banyan/internal/runtime/transport"
	"banyan/internal/topology"
)

// A Proc that died may be replaced: by a process in the same replica slot, under the next
// incarnation. The transport speaks to the incarnation that was admitted last, and everything
// said of an earlier one is out of date. A replacement is a joining peer until a view has it
// as a member: frames go to it and come from it, but the detector doesn't watch it. To a
// replacement all others are joining peers until its first view.

// Admit says that a process has come to replace a dead one, under an incarnation. One that
// isn't higher than the last known changes nothing.
func (p *Process) Admit(q proto.Proc, incarnation proto.Incarnation) {
	if q == p.cfg.Self || incarnation <= p.peers[q].incarnation || p.lifecycle.finished {
		return
	}
	switch { // only a dead process is replaced
	case p.peers[q].state == peerDead:
	case p.cfg.Witness: // the launcher has seen it end
		p.Evidence(q, incarnation-1)
	default:
		p.Hearsay(q, incarnation-1)
	}
	if !p.peers[q].admit(incarnation) {
		return
	}
	if p.liveness.members != nil {
		p.liveness.members.Announce(p.peers.member(q))
	}
	p.dropStaging(q)
	// What the former incarnation has offered, another replica offers again.
	p.receives.forgetSender(q)
	p.liveness.broken.forget(q)
	if t, ok := p.net.(transport.Admitter); ok {
		t.Admit(q, incarnation)
	}
}

// begin makes the machines that a replacement starts with, or those of a process that is
// there from the start of the job.
func (p *Process) begin(now proto.Time) {
	n := p.cfg.Layout.Procs()
	first := &detector.View{Ring: p.liveness.ring}
	if !p.cfg.Replacement {
		p.shutdown = shutdown.New(p.cfg.Self, n)
		p.liveness.members = membership.New(p.membership(), membership.FirstView(n))
	} else {
		p.peers = newPeersOfReplacement(n, p.cfg.Self, p.cfg.Incarnations, p.cfg.Gone)
		for q := range p.peers {
			if p.peers[q].state == peerDead {
				p.replica.Dead(proto.Proc(q), p.peers[q].incarnation, &p.replicaOut)
			}
		}
		p.replicaOut = p.replicaOut[:0] // it has sent nothing
		p.shutdown = shutdown.Join(p.cfg.Self, p.peers.incarnations(), p.goneForGood())
		p.healing.joining = &joining{donor: proto.NoProc}
		alone, err := topology.NewRing([]proto.Proc{p.cfg.Self})
		if err != nil {
			panic(err) // it has one member
		}
		first = &detector.View{Ring: alone, Incarnations: []proto.Incarnation{p.peers[p.cfg.Self].incarnation}}
	}
	p.liveness.detector = detector.New(detector.Config{
		Self: p.cfg.Self, Incarnation: p.peers[p.cfg.Self].incarnation, View: first,
		Period: p.cfg.Period, Timeout: p.cfg.Timeout, Witness: p.cfg.Witness,
		Local: p.cfg.Witness && p.oneHost(), Opinions: detector.DefaultOpinions,
	}, now, &p.liveness.detectorOut)
	p.runDetector()
}

func (p *Process) membership() membership.Config {
	patience := 2 * p.cfg.Timeout
	if p.leased() {
		patience = endless
	}
	gather := p.cfg.Period / 20
	if p.cfg.Witness && p.oneHost() {
		// All hear of a death from the launcher, one after the other. A view needs connections that
		// there mostly aren't yet, and with many processes on few cores the news waits for these.
		gather += p.cfg.Period * proto.Time(p.cfg.Layout.Procs()) / 400
	}
	return membership.Config{Self: p.peers.member(p.cfg.Self), Gather: gather, Patience: patience, Retry: p.cfg.Timeout}
}

// joinView asks to be let into the view. This replacement isn't a member of one yet.
func (p *Process) joinView() {
	var contacts []membership.Member
	for q := range p.peers {
		if q := proto.Proc(q); q != p.cfg.Self && p.present(q) && p.replica.Alive(q) { // no other that joins
			contacts = append(contacts, p.peers.member(q))
		}
	}
	if len(contacts) == 0 {
		return // no process is left that has a view
	}
	p.liveness.members = membership.NewJoiner(p.membership(), contacts, p.now, &p.liveness.membersOut)
	for q := range p.peers {
		if m := p.peers.member(proto.Proc(q)); m.Incarnation > 0 && p.present(m.Proc) {
			p.liveness.members.Announce(m)
		}
	}
	p.runMembership()
}

// admitJoining admits the replacements that are joining in the donor's state: the launcher's
// word of them may be on its way.
func (p *Process) admitJoining() {
	for q := range proto.Proc(p.cfg.Layout.Procs()) {
		p.Admit(q, p.replica.Incarnation(q))
		if p.replica.Joining(q) {
			p.prepareFor(q)
		}
	}
}

// adoptViews gives the detector the views that have come into force, from the first on that a
// replacement has joined. Until then the detector's base list is that of the start.
func (p *Process) adoptViews() {
	l := &p.liveness
	for len(l.views) > 0 {
		v := l.views[0]
		l.views = l.views[1:]
		l.growing = l.growing || len(v.Joined) > 0
		if l.growing {
			p.adopt(v)
		}
		p.confirmExcluded(v)
	}
}

func (p *Process) adopt(v *membership.View) {
	l := &p.liveness
	// A process that isn't a member any more is dead, whether noticed here or elsewhere.
	for q := range p.peers {
		if m := p.peers.member(proto.Proc(q)); p.peers[q].state == peerAlive && v.Excludes(m) {
			p.excluded(m.Proc, m.Incarnation)
		}
	}
	l.detector.Install(p.now, l.viewOf(v), &l.detectorOut)
	l.installed = true
	for _, m := range v.Members {
		switch q := &p.peers[m.Proc]; {
		case m.Proc == p.cfg.Self:
		case m.Incarnation < q.incarnation || q.state == peerDead:
			l.detector.Evidence(p.now, m.Proc, m.Incarnation, &l.detectorOut)
			l.members.Departed(p.now, m, q.why, &l.membersOut)
		case m.Incarnation == q.incarnation && q.state == peerJoining:
			q.become(peerAlive)
			// Its donor may have held this process for dead, and so not prepared it.
			p.shutdown.Admit(m.Proc, m.Incarnation, &p.shutdownOut)
		}
	}
	p.runDetector()
	p.runMembership()
	p.runShutdown()
}
