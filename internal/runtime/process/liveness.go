package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/topology"
)

// liveness is how a process finds out which others live: the detector for what is certain or
// suspected here, the membership for what all agree on, and the connections that broke.
type liveness struct {
	detector    *detector.Machine
	detectorOut detector.Actions
	ring        *topology.Ring // that of the detector's first view
	// introduced is how many of the distances 1, 2, 4, 8… introduction has been through.
	introduced int
	beside     proto.Proc // the process that watchBeside has a link to; NoProc: none
	broken     brokenConnections

	members    *membership.Machine // nil at a replacement that isn't in a view yet
	membersOut membership.Actions
	views      []*membership.View // to be given to the detector
	installed  bool               // the detector has been given a view
	growing    bool               // a view had a replacement join
}

// deadline is when Tick is needed next.
func (l *liveness) deadline() proto.Time {
	d := min(l.detector.Deadline(), l.broken.deadline())
	if l.members != nil {
		d = min(d, l.members.Deadline())
	}
	return d
}

// viewOf is a view of the membership as the detector takes it: on the ring of the start,
// without those that are no members.
func (l *liveness) viewOf(v *membership.View) *detector.View {
	var order []proto.Proc
	var incarnations []proto.Incarnation
	for i := range l.ring.Len() {
		q := l.ring.At(i)
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
	return &detector.View{Number: uint32(v.Number), Ring: ring, Incarnations: incarnations}
}

// introduction is the process to which self introduces itself next, by a heartbeat: one after
// another those at distance 2, 4, 8… from self on the ring. It is NoProc the first time, since the
// heartbeat that goes out then is for the process at distance 1, and when all have had theirs.
func (l *liveness) introduction(self proto.Proc) proto.Proc {
	distance := 1 << l.introduced
	if distance >= l.ring.Len() {
		return proto.NoProc
	}
	l.introduced++
	if distance == 1 {
		return proto.NoProc
	}
	return l.ring.At((l.ring.Position(self) + distance) % l.ring.Len())
}

// oneHost says whether all processes of the job were started on one host, as far as is known.
func (p *Process) oneHost() bool {
	hosts := p.cfg.Hosts
	if len(hosts) != p.cfg.Layout.Procs() {
		return false
	}
	for _, h := range hosts {
		if h != hosts[0] {
			return false
		}
	}
	return true
}

// tickLiveness lets time pass for the detector and the membership.
func (p *Process) tickLiveness() {
	l := &p.liveness
	p.bearLast()
	l.detector.Tick(p.now, &l.detectorOut)
	p.runDetector()
	if l.members != nil && p.now >= l.members.Deadline() {
		l.members.Tick(p.now, &l.membersOut)
		p.runMembership()
	}
	p.adoptViews()
}

// expireBroken takes the peers for dead whose connections have been broken for too long.
func (p *Process) expireBroken() {
	if len(p.liveness.broken) > 0 {
		p.liveness.broken.expire(p.now, p.present, p.suspect)
	}
}
