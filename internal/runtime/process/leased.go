package process

import "banyan/internal/proto"

// Where agents with leases decide which side of a cut goes on, they are the only electorate
// (Config.Leased). Both sides live until a lease ends, and then one of them is dead. So what can
// wait for that verdict, waits:
//
//   - Processes without a quorum don't stop. They live as long as their host lets them.
//   - The last replica of a rank isn't held for dead by silence before a verdict must have come. A
//     cut that is over before a lease is costs no rank then.
//   - No process passes the shutdown barrier as long as a silent one may be alive: the side
//     that loses its lease would have finished, too. The job ends no later for it, because its
//     launcher waits for the same verdict.
//
// Substitution doesn't wait: a sibling goes on for a silent replica at once.

// endless is longer than any job.
const endless = proto.Time(1) << 55

// leased says whether agents with leases decide.
func (p *Process) leased() bool { return p.cfg.Leased > 0 }

// bearLast has the silence of a process borne that is the last replica of its rank.
func (p *Process) bearLast() {
	if !p.leased() {
		return
	}
	q := p.Doubtful()
	if q == proto.NoProc {
		return
	}
	rank := p.cfg.Layout.Rank(q)
	for k := range p.cfg.Layout.Degree(rank) {
		if other := p.cfg.Layout.Proc(rank, k); other != q && p.peers[other].state != peerDead {
			return
		}
	}
	p.liveness.detector.Bear(p.now, q, p.cfg.Leased)
}

// certainlyOver notes that a process has certainly ended, and tells the shutdown barrier, if that
// hasn't taken its silence for its end.
func (p *Process) certainlyOver(q proto.Proc) {
	p.peers[q].over = true
	if p.leased() {
		p.shutdown.Gone(q, &p.shutdownOut)
		p.runShutdown()
	}
}

// goneForGood are the processes for which the shutdown barrier doesn't wait, by Proc.
func (p *Process) goneForGood() []bool {
	list := p.peers.dead()
	for q := range list {
		list[q] = list[q] && (p.peers[q].over || !p.leased())
	}
	return list
}
