package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire"
	"banyan/internal/runtime/wire/detection"
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

// Overdue is the process whose silence makes this one ask others; NoProc if there is none. It may
// become Doubtful.
func (p *Process) Overdue() proto.Proc { return p.liveness.detector.Overdue() }

// Bear says that a silent process lacks a core rather than being dead. Its silence is tolerated
// for another η, up to 10δ in all.
func (p *Process) Bear(q proto.Proc) { p.liveness.detector.Bear(p.now, q, 0) }

// Heartbeats counts what a process hears and says of itself, for people.
type Heartbeats struct {
	Sent uint64 // to its observer: one each period
	Late uint64 // that came more than two periods after the one before, from the same process

	from proto.Proc // the last one
	at   proto.Time
}

// came notes a heartbeat.
func (b *Heartbeats) came(now proto.Time, from proto.Proc, period proto.Time) {
	if b.from == from && b.at > 0 && now-b.at > 2*period {
		b.Late++
	}
	b.from, b.at = from, now
}

// runDetector carries out what the detector asked for.
func (p *Process) runDetector() {
	// Deaths that are reported are handled after the frames have left, so that other processes
	// hear of them first. Handling one never calls the detector.
	for i := range p.liveness.detectorOut {
		a := &p.liveness.detectorOut[i]
		payload, sends := detection.Encode(a, &p.header, p.scratch[:0])
		if !sends {
			continue
		}
		p.scratch = payload[:0]
		p.send(a.To, &p.header, payload, 0)
		if a.Kind == detector.SendHeartbeat {
			if a.To == p.liveness.detector.Observer() {
				p.Heartbeats.Sent++
			}
			if !p.introduce(a.Beat) {
				p.watchBeside(a.Beat)
			}
		}
	}
	for i := range p.liveness.detectorOut {
		switch a := &p.liveness.detectorOut[i]; a.Kind {
		case detector.ReportDeath:
			p.died(a.Report)
		case detector.ReportLeft:
			p.departed(a.Report.Proc)
		case detector.ReportFenced:
			if a.Report.Cause == detector.CauseSilence {
				p.host.Apart(a.Report.By)
			}
			p.fence(a.Report.By)
		}
	}
	p.liveness.detectorOut = p.liveness.detectorOut[:0]
}

// introduce sends one more heartbeat along with each of the first few, to the process at
// distance 2, 4, 8… on the ring. Broadcasts of deaths travel between such neighbours. To connect
// only then would take longer than all the rest. It returns false when all that is over, or when
// there is nothing to prepare: where one launcher reaps all processes and all are on one host, its
// news are everywhere before a broadcast begins, and a job of a thousand processes would make ten
// thousand links to start.
func (p *Process) introduce(b detector.Beat) bool {
	if p.lifecycle.finishing || p.cfg.Witness && p.oneHost() {
		return false
	}
	before := p.liveness.introduced
	to := p.liveness.introduction(p.cfg.Self)
	if to != proto.NoProc && p.liveness.detector.Alive(to) && p.peers[to].state != peerLeft {
		detection.EncodeHeartbeat(b, &p.header)
		p.send(to, &p.header, nil, 0)
	}
	return p.liveness.introduced > before
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
	if h.Kind == wire.KindHeartbeat {
		p.Heartbeats.came(p.now, from, p.cfg.Period)
	}
	detection.Deliver(p.liveness.detector, p.now, from, h, payload, &p.liveness.detectorOut)
	p.runDetector()
}
