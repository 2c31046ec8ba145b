package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire/detection"
)

// What the network says of a process on another host is a hint; what the kernel says of one on this
// host is certain. So where no launcher reaps the processes, each keeps a link to the next live one
// on its host. The kernel tells it when that one has ended, and it testifies to the others: they
// needn't wait for the silence of a process that was killed.

// besideSelf is the next live process on this one's host; NoProc if there is none, or if it needn't
// be watched: a launcher tells of every death, or the job has one host and so no others that wait.
func (p *Process) besideSelf() proto.Proc {
	hosts, self := p.cfg.Hosts, p.cfg.Self
	if p.cfg.Witness || len(hosts) != p.cfg.Layout.Procs() {
		return proto.NoProc
	}
	if p.cfg.Replacement {
		return proto.NoProc // it may run on any host
	}
	for i := 1; i < len(hosts); i++ {
		q := (int(self) + i) % len(hosts)
		if hosts[q] == hosts[self] && !p.peers[q].gone() && p.peers[q].incarnation == 0 {
			return proto.Proc(q)
		}
	}
	return proto.NoProc
}

// watchBeside makes the link to the process beside this one, by a heartbeat, if there is none yet.
func (p *Process) watchBeside(b detector.Beat) {
	q := p.besideSelf()
	if q == p.liveness.beside || p.lifecycle.finishing {
		return
	}
	if p.liveness.beside = q; q != proto.NoProc && !p.peers[q].contacted {
		detection.EncodeHeartbeat(b, &p.header)
		p.send(q, &p.header, nil, 0)
	}
}

// testify tells the observer of the process beside this one that the kernel has seen its end.
func (p *Process) testify(q proto.Proc) {
	if q == p.liveness.beside && !p.lifecycle.finished {
		p.liveness.detector.Testify(p.now, q, &p.liveness.detectorOut)
		p.runDetector()
	}
}
