package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

// wantsReply in the flags of a KindReconcile asks for the same in return.
const wantsReply = 1

// ringOf is the ring that a job starts with, of all its processes.
func ringOf(cfg *Config) *topology.Ring {
	n := cfg.Layout.Procs()
	if len(cfg.Hosts) == n {
		return topology.InterleavedRing(cfg.Hosts)
	}
	return topology.IdentityRing(n)
}

// Excuse says that a process is known to be stopped, as by a debugger, or no
// longer: its silence is not taken for death.
func (p *Process) Excuse(q proto.Proc, excused bool) {
	p.detector.Excuse(p.now, q, excused)
}

// Doubtful is the process that the next Tick takes for dead because of its silence,
// NoProc if there is none.
func (p *Process) Doubtful() proto.Proc { return p.detector.Doubtful(p.now) }

// Bear says that a silent process is starved of its core rather than dead: its
// silence is borne for another η, up to 10δ in all.
func (p *Process) Bear(q proto.Proc) { p.detector.Bear(p.now, q) }

// runDetector carries out what the detector asked for.
func (p *Process) runDetector() {
	// A reported death is handled after the frames: whoever else must be told
	// is told first. Handling one never calls the detector.
	for i := range p.detectorOut {
		a := &p.detectorOut[i]
		switch a.Kind {
		case detector.SendHeartbeat:
			p.sendHeartbeat(a.To, a.Beat)
			p.introduce(a.Beat)
		case detector.SendObserve:
			p.send(a.To, p.stamped(wire.KindObserve, a.Beat.View, a.Beat.Incarnation), nil, 0)
		case detector.SendNews, detector.SendReconcile:
			p.sendBulletin(a)
		case detector.SendEviction:
			p.sendEviction(a.To, a.Incarnation)
		}
	}
	for i := range p.detectorOut {
		switch a := &p.detectorOut[i]; a.Kind {
		case detector.ReportDeath:
			p.died(a.Report)
		case detector.ReportLeft:
			p.departed(a.Report.Proc)
		case detector.ReportFenced:
			p.fence(a.Report.By)
		}
	}
	p.detectorOut = p.detectorOut[:0]
}

func (p *Process) sendHeartbeat(to proto.Proc, b detector.Beat) {
	h := p.stamped(wire.KindHeartbeat, b.View, b.Incarnation)
	h.Context, h.Total = b.Digest.Hash, uint64(b.Digest.Count)
	p.send(to, h, nil, 0)
}

// introduce sends one more heartbeat along with each of the first few, to the process at
// distance 2, 4, 8… on the ring. Broadcasts of deaths travel between such neighbours,
// and to connect only then would take longer than all the rest.
func (p *Process) introduce(b detector.Beat) {
	distance := 1 << p.introduced // the first of all went to the observer
	if distance >= p.ring.Len() || p.finishing {
		return
	}
	p.introduced++
	to := p.ring.At((p.ring.Position(p.cfg.Self) + distance) % p.ring.Len())
	if distance > 1 && p.detector.Alive(to) && p.peers[to].state != peerLeft {
		p.sendHeartbeat(to, b)
	}
}

// stamped is the header of a frame of the detector.
func (p *Process) stamped(k wire.Kind, view uint32, incarnation proto.Incarnation) *wire.Header {
	h := p.nextHeader(k)
	h.Seq, h.Aux = uint64(view), int32(incarnation)
	return h
}

func (p *Process) sendBulletin(a *detector.Action) {
	b := &a.Bulletin
	h := p.stamped(wire.KindReconcile, b.View, b.Incarnation)
	if a.Kind == detector.SendNews {
		h.Kind, h.Src, h.Tag, h.Flags = wire.KindNews, proto.Rank(b.Source), int32(b.Tree), b.Cube
	} else if a.Ask {
		h.Flags = wantsReply
	}
	p.scratch = p.scratch[:0]
	for _, e := range b.Gone {
		p.scratch = wire.AppendGone(p.scratch, wire.Gone(e))
	}
	p.send(a.To, h, p.scratch, 0)
	p.scratch = p.scratch[:0]
}

func (p *Process) sendEviction(to proto.Proc, incarnation proto.Incarnation) {
	h := p.nextHeader(wire.KindEviction)
	h.Aux = int32(incarnation)
	p.send(to, h, nil, 0)
}

// detectorArrived routes the frames of the detector.
func (p *Process) detectorArrived(from proto.Proc, h *wire.Header, payload []byte) {
	beat := detector.Beat{
		View: uint32(h.Seq), Incarnation: proto.Incarnation(h.Aux),
		Digest: detector.Digest{Count: uint32(h.Total), Hash: h.Context},
	}
	if p.joining != nil && !p.installed {
		return // a replacement has no view yet, so it knows of nobody's place on the ring
	}
	switch h.Kind {
	case wire.KindHeartbeat:
		p.detector.Heartbeat(p.now, from, beat, &p.detectorOut)
	case wire.KindObserve:
		p.detector.Observe(p.now, from, beat, &p.detectorOut)
	case wire.KindNews, wire.KindReconcile:
		b := detector.Bulletin{
			View: beat.View, Incarnation: beat.Incarnation,
			Source: proto.Proc(h.Src), Cube: h.Flags, Tree: uint8(h.Tag), Gone: decodeGone(payload),
		}
		if h.Kind == wire.KindNews {
			p.detector.News(p.now, from, b, &p.detectorOut)
		} else {
			p.detector.Reconcile(p.now, from, b, h.Flags == wantsReply, &p.detectorOut)
		}
	case wire.KindEviction:
		p.detector.Eviction(p.now, from, beat.Incarnation, &p.detectorOut)
	}
	p.runDetector()
}

// decodeGone makes a list of its own for each bulletin: the detector may keep it.
func decodeGone(payload []byte) []detector.Entry {
	gone := make([]detector.Entry, len(payload)/wire.GoneSize)
	for i := range gone {
		gone[i] = detector.Entry(wire.DecodeGone(payload[i*wire.GoneSize:]))
	}
	return gone
}
