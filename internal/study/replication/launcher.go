package replication

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
)

// launcher has the dead replaced, one at a time and in the order in which replacements are there,
// as the recovery of a real job does. It's a node beside the processes: what it and they say is
// heard a latency later.
type launcher struct {
	job     *job
	nodes   []*node
	dead    map[proto.Proc]bool
	waiting []occupant // replacements
	current occupant   // the one for which a donor was asked
	donor   proto.Proc
	busy    bool // with the current one
	handed  bool // its donor has sent its state
}

// launcher is the number of the launcher's node.
func (j *job) launcher() proto.Proc { return proto.Proc(j.layout.Procs()) }

// Act implements loggp.Node.
func (l *launcher) Act(p *port, end proto.Time) (wake proto.Time) {
	for p.NextUrgent() < end {
		f := p.TakeUrgent()
		now, about := f.At, occupant{proto.Proc(f.Body.id), proto.Incarnation(f.Body.receiver)}
		switch f.Body.kind {
		case news:
			l.died(p, now, about)
		case help:
			l.waiting = append(l.waiting, about)
		case handed:
			l.handed = l.handed || about == l.current
		case declined:
			l.busy = l.busy && about != l.current
		case joined:
			l.busy = l.busy && about != l.current
			delete(l.dead, about.proc)
		}
		l.ask(p, now)
	}
	p.Await(1, 0, proto.Never)
	return p.NextUrgent()
}

// died takes the news of a death. A donor that dies before it has sent its state takes the
// replacement with it: another one is started.
func (l *launcher) died(p *port, now proto.Time, v occupant) {
	l.dead[v.proc] = true
	if !l.busy || l.handed || v.proc != l.donor {
		return
	}
	l.busy = false
	q, s := l.nodes[l.current.proc], &l.job.settings
	for local := range proto.Proc(len(q.around.ranks) * s.Degree) {
		if to := q.proc(local); to != q.self {
			p.Post(now+s.Costs.Latency, to, body{kind: news, id: uint32(q.self), receiver: uint32(l.current.incarnation), total: uint64(now)})
		}
	}
	p.Post(now+s.Healing.After, l.job.launcher(), body{kind: help, id: uint32(q.self), receiver: uint32(l.current.incarnation + 1)})
}

// ask asks a donor for the first replacement that waits.
func (l *launcher) ask(p *port, now proto.Time) {
	for !l.busy && len(l.waiting) > 0 {
		l.current, l.waiting = l.waiting[0], l.waiting[1:]
		rank := l.job.layout.Rank(l.current.proc)
		replicas := make([]proto.Proc, l.job.settings.Degree)
		for k := range replicas {
			replicas[k] = l.job.layout.Proc(rank, k)
		}
		i := slices.IndexFunc(replicas, func(q proto.Proc) bool { return !l.dead[q] })
		if i < 0 {
			continue // the rank is lost
		}
		l.busy, l.handed, l.donor = true, false, replicas[i]
		p.Post(now+l.job.settings.Costs.Latency, l.donor, body{kind: help, id: uint32(l.current.proc), receiver: uint32(l.current.incarnation)})
	}
}

var _ loggp.Node[body] = (*launcher)(nil)
