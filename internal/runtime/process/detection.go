package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

// ringOf is the ring of heartbeats that a job starts with, of all its processes.
func ringOf(cfg *Config) *topology.Ring {
	n := cfg.Layout.Procs()
	if len(cfg.Hosts) == n {
		return topology.InterleavedRing(cfg.Hosts)
	}
	return topology.IdentityRing(n)
}

// Excuse says that a process is known to be stopped, as by a debugger, or isn't any more. While
// it is, its silence isn't taken for death.
func (p *Process) Excuse(q proto.Proc, excused bool) {
	p.liveness.detector.Excuse(p.now, q, excused)
}

// Doubtful is the process that the next Tick takes for dead because of its silence; NoProc if
// there is none.
func (p *Process) Doubtful() proto.Proc { return p.liveness.detector.Doubtful(p.now) }

// Bear says that a silent process lacks a core rather than being dead. Its silence is tolerated
// for another η, up to 10δ in all.
func (p *Process) Bear(q proto.Proc) { p.liveness.detector.Bear(p.now, q) }

// runDetector carries out what the detector asked for.
func (p *Process) runDetector() {
	// Deaths that are reported are handled after the frames have left, so that other processes
	// hear of them first. Handling one never calls the detector.
	for i := range p.liveness.detectorOut {
		a := &p.liveness.detectorOut[i]
		switch a.Kind {
		case detector.SendHeartbeat:
			p.sendHeartbeat(a.To, a.Beat)
			p.introduce(a.Beat)
		case detector.SendObserve:
			wire.Observe{Stamp: stampOf(a.Beat)}.Put(&p.header)
			p.send(a.To, &p.header, nil, 0)
		case detector.SendNews, detector.SendReconcile:
			p.sendBulletin(a)
		case detector.SendEviction:
			p.sendEviction(a.To, a.Incarnation)
		}
	}
	for i := range p.liveness.detectorOut {
		switch a := &p.liveness.detectorOut[i]; a.Kind {
		case detector.ReportDeath:
			p.died(a.Report)
		case detector.ReportLeft:
			p.departed(a.Report.Proc)
		case detector.ReportFenced:
			p.fence(a.Report.By)
		}
	}
	p.liveness.detectorOut = p.liveness.detectorOut[:0]
}

func (p *Process) sendHeartbeat(to proto.Proc, b detector.Beat) {
	wire.Heartbeat{Stamp: stampOf(b), Count: b.Digest.Count, Hash: b.Digest.Hash}.Put(&p.header)
	p.send(to, &p.header, nil, 0)
}

// introduce sends one more heartbeat along with each of the first few, to the process at
// distance 2, 4, 8… on the ring. Broadcasts of deaths travel between such neighbours. To connect
// only then would take longer than all the rest.
func (p *Process) introduce(b detector.Beat) {
	if p.lifecycle.finishing {
		return
	}
	to, _ := p.liveness.introduction(p.cfg.Self)
	if to != proto.NoProc && p.liveness.detector.Alive(to) && p.peers[to].state != peerLeft {
		p.sendHeartbeat(to, b)
	}
}

func stampOf(b detector.Beat) wire.Stamp {
	return wire.Stamp{View: b.View, Incarnation: b.Incarnation}
}

func (p *Process) sendBulletin(a *detector.Action) {
	b := &a.Bulletin
	stamp := wire.Stamp{View: b.View, Incarnation: b.Incarnation}
	if a.Kind == detector.SendNews {
		wire.News{Stamp: stamp, Source: b.Source, Cube: b.Cube, Tree: b.Tree}.Put(&p.header)
	} else {
		wire.Reconcile{Stamp: stamp, Ask: a.Ask}.Put(&p.header)
	}
	p.scratch = p.scratch[:0]
	for _, e := range b.Gone {
		p.scratch = wire.AppendGone(p.scratch, wire.Gone(e))
	}
	p.send(a.To, &p.header, p.scratch, 0)
	p.scratch = p.scratch[:0]
}

func (p *Process) sendEviction(to proto.Proc, incarnation proto.Incarnation) {
	wire.Eviction{Incarnation: incarnation}.Put(&p.header)
	p.send(to, &p.header, nil, 0)
}

// detectorArrived routes the frames of the detector.
func (p *Process) detectorArrived(from proto.Proc, h *wire.Header, payload []byte) {
	if p.healing.joining != nil && !p.liveness.installed {
		return // a replacement without a view doesn't know the ring
	}
	switch h.Kind {
	case wire.KindHeartbeat:
		f := h.Heartbeat()
		p.liveness.detector.Heartbeat(p.now, from, detector.Beat{
			View: f.View, Incarnation: f.Incarnation, Digest: detector.Digest{Count: f.Count, Hash: f.Hash},
		}, &p.liveness.detectorOut)
	case wire.KindObserve:
		f := h.Observe()
		p.liveness.detector.Observe(p.now, from, detector.Beat{View: f.View, Incarnation: f.Incarnation}, &p.liveness.detectorOut)
	case wire.KindNews:
		f := h.News()
		p.liveness.detector.News(p.now, from, detector.Bulletin{
			View: f.View, Incarnation: f.Incarnation, Source: f.Source, Cube: f.Cube, Tree: f.Tree, Gone: decodeGone(payload),
		}, &p.liveness.detectorOut)
	case wire.KindReconcile:
		f := h.Reconcile()
		p.liveness.detector.Reconcile(p.now, from, detector.Bulletin{
			View: f.View, Incarnation: f.Incarnation, Gone: decodeGone(payload),
		}, f.Ask, &p.liveness.detectorOut)
	case wire.KindEviction:
		p.liveness.detector.Eviction(p.now, from, h.Eviction().Incarnation, &p.liveness.detectorOut)
	}
	p.runDetector()
}

// decodeGone makes a new list for each bulletin: the detector may keep it.
func decodeGone(payload []byte) []detector.Entry {
	gone := make([]detector.Entry, len(payload)/wire.GoneSize)
	for i := range gone {
		gone[i] = detector.Entry(wire.DecodeGone(payload[i*wire.GoneSize:]))
	}
	return gone
}
