package process

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/shutdown"
	"banyan/internal/runtime/transport"
	"banyan/internal/topology"
)

// A process whose place is taken by another one is counted by incarnations: the transport
// speaks to the last one admitted, and everything said of a life before that is old news. A
// replacement is a guest until a view has it as a member: it is heard and spoken to, but its
// death isn't the detector's to find. To a replacement all are guests until its first view.

// Admit says that a process has come to take the place of a dead one, under an
// incarnation. One that isn't higher than the last known changes nothing.
func (p *Process) Admit(q proto.Proc, incarnation proto.Incarnation) {
	if q == p.cfg.Self || incarnation <= p.peers[q].incarnation || p.finished {
		return
	}
	if p.peers[q].state != peerDead {
		p.Evidence(q, incarnation-1) // nobody takes the place of one that lives
	}
	if !p.peers[q].admit(incarnation) {
		return
	}
	p.dropStaging(q)
	// What the former one has offered another offers again.
	p.arrivals.each(func(_ Handle, a *arrival) {
		if a.offered && a.from == q {
			a.from = proto.NoProc
		}
	})
	for i := range p.early {
		if p.early[i].from == q {
			p.early[i].from = proto.NoProc
		}
	}
	p.alternatives = slices.DeleteFunc(p.alternatives, func(s alternative) bool { return s.from == q })
	p.lost = slices.DeleteFunc(p.lost, func(l lostPeer) bool { return l.proc == q })
	if t, ok := p.net.(transport.Admitter); ok {
		t.Admit(q, incarnation)
	}
}

// begin makes the machines that a replacement begins otherwise, or those of a process
// that is there from the start.
func (p *Process) begin(now proto.Time) {
	n := p.cfg.Layout.Procs()
	first := &detector.View{Ring: p.ring}
	if !p.cfg.Replacement {
		p.shutdown = shutdown.New(p.cfg.Self, n)
		p.members = membership.New(p.membership(), membership.FirstView(n))
	} else {
		p.peers = newPeersOfReplacement(n, p.cfg.Self, p.cfg.Incarnations, p.cfg.Gone)
		for q := range p.peers {
			if p.peers[q].state == peerDead {
				p.replica.Dead(proto.Proc(q), p.peers[q].incarnation, &p.replicaOut)
			}
		}
		p.replicaOut = p.replicaOut[:0] // it has sent nothing
		p.shutdown = shutdown.Join(p.cfg.Self, p.peers.incarnations(), p.peers.dead())
		p.joining = &joining{donor: proto.NoProc}
		alone, err := topology.NewRing([]proto.Proc{p.cfg.Self})
		if err != nil {
			panic(err) // it has one member
		}
		first = &detector.View{Ring: alone, Incarnations: []proto.Incarnation{p.peers[p.cfg.Self].incarnation}}
	}
	p.detector = detector.New(detector.Config{
		Self: p.cfg.Self, Incarnation: p.peers[p.cfg.Self].incarnation, View: first,
		Period: p.cfg.Period, Timeout: p.cfg.Timeout, Witness: p.cfg.Witness,
	}, now, &p.detectorOut)
	p.runDetector()
}

func (p *Process) membership() membership.Config {
	return membership.Config{
		Self: p.peers.member(p.cfg.Self), Gather: p.cfg.Period / 20, Patience: 2 * p.cfg.Timeout, Retry: p.cfg.Timeout,
	}
}

// joinView asks to be let into the view, of which this replacement is no member yet.
func (p *Process) joinView() {
	var contacts []membership.Member
	for q := range p.peers {
		if q := proto.Proc(q); q != p.cfg.Self && p.present(q) {
			contacts = append(contacts, p.peers.member(q))
		}
	}
	if len(contacts) == 0 {
		return // nobody is left who has a view
	}
	p.members = membership.NewJoiner(p.membership(), contacts, p.now, &p.membersOut)
	p.runMembership()
}

// adoptViews gives the detector the views that have come into force, from the first on
// that somebody has joined: until then its base list is that of the start.
func (p *Process) adoptViews() {
	for len(p.views) > 0 {
		v := p.views[0]
		p.views = p.views[1:]
		p.growing = p.growing || len(v.Joined) > 0
		if p.growing {
			p.adopt(v)
		}
	}
}

func (p *Process) adopt(v *membership.View) {
	// Who isn't in it any more is dead, whoever may have noticed.
	for q := range p.peers {
		if m := p.peers.member(proto.Proc(q)); p.peers[q].state == peerAlive && v.Excludes(m) {
			p.Evidence(m.Proc, m.Incarnation)
		}
	}
	var order []proto.Proc
	var incarnations []proto.Incarnation
	for i := range p.ring.Len() {
		q := p.ring.At(i)
		for _, m := range v.Members {
			if m.Proc == q {
				order, incarnations = append(order, q), append(incarnations, m.Incarnation)
			}
		}
	}
	ring, err := topology.NewRing(order)
	if err != nil {
		panic(err) // the members of a view are distinct
	}
	p.detector.Install(p.now, &detector.View{Number: uint32(v.Number), Ring: ring, Incarnations: incarnations}, &p.detectorOut)
	p.installed = true
	for _, m := range v.Members {
		switch q := &p.peers[m.Proc]; {
		case m.Proc == p.cfg.Self:
		case m.Incarnation < q.incarnation || q.state == peerDead:
			p.detector.Evidence(p.now, m.Proc, m.Incarnation, &p.detectorOut)
			p.members.Departed(p.now, m, q.why, &p.membersOut)
		case m.Incarnation == q.incarnation && q.state == peerJoining:
			q.become(peerAlive)
		}
	}
	p.runDetector()
	p.runMembership()
}
