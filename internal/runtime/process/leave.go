package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/shutdown"
	"banyan/internal/runtime/wire"
)

// lifecycle is how far this process is on its way out of the job.
type lifecycle struct {
	finishing bool         // the program is through: offers are refused
	finished  bool         // every live process is through
	fenced    bool         // the job goes on without this process
	closed    bool         // the transport is about to go
	lost      []proto.Rank // ranks of the job that are lost, in the order in which this process learnt of it
}

// running tells whether no rank is lost and this process may send.
func (l *lifecycle) running() bool { return len(l.lost) == 0 && !l.fenced && !l.closed }

// Finish says that the program is through. From then on nothing is received here. When Flushed,
// the process may call Depart.
func (p *Process) Finish() {
	p.lifecycle.finishing = true
	if p.healing.replay == nil {
		p.replica.Through(&p.replicaOut)
		p.runReplica()
	}
	p.endOrder()
	p.leaveAgreements()
	p.receives.arrivals.each(func(_ Handle, a *arrival) {
		if a.offered && a.request == (Handle{}) {
			if !a.taken {
				p.match.Take(a.envelope)
			}
			p.refuse(a)
		}
	})
	p.answerAsks()
}

// Flushed tells whether no other process can need anything any more that this one sent.
func (p *Process) Flushed() bool {
	p.flushAcks()
	// Where a rank is lost, replicas of another may have left the program at different places,
	// so some of what is retained is never asked for. A process that still needs any of it
	// hasn't finished, and is served until all have.
	if !p.replica.Idle() && len(p.lifecycle.lost) == 0 || len(p.sends.throttled) > 0 || p.condemned() || !p.sentAll() {
		return false
	}
	for _, c := range p.contexts.active {
		if !c.stream.Idle() && !c.revoked {
			return false
		}
	}
	return true
}

// Diverged returns a DivergedError if the program, which is through, has sent fewer messages
// than another replica of its rank did. That replica would wait for ever, in its shutdown
// barrier, for a receive of its messages. Where a rank is lost, replicas may well differ.
func (p *Process) Diverged() error {
	if dst, behind := p.replica.Behind(); behind && p.lifecycle.finishing && len(p.lifecycle.lost) == 0 && !p.condemned() && p.sentAll() {
		return &DivergedError{Rank: p.cfg.Layout.Rank(p.cfg.Self), To: dst}
	}
	return nil
}

// Depart tells the other processes that this one is ready to leave. It may go when Departed.
func (p *Process) Depart() {
	p.shutdown.Finish(&p.shutdownOut)
	p.runShutdown()
}

// Fenced tells whether the job takes this process for dead.
func (p *Process) Fenced() bool { return p.lifecycle.fenced }

// Departed tells whether every live process is ready to leave.
func (p *Process) Departed() bool { return p.lifecycle.finished || p.lifecycle.fenced }

// Goodbye is the last thing that a process sends. It goes to the processes with which this one
// has ever exchanged a frame, or could without this package's knowledge (package lane): they would
// take the end of the connection for a death. The other processes hear of the departure from the
// launcher. If the launcher doesn't tell, and the coordinator of the shutdown barrier dies in the
// middle of it, they take the silence of those that left for death.
func (p *Process) Goodbye() {
	net, _ := p.net.(interface{ Linked(proto.Proc) bool })
	p.toAll(wire.Header{Kind: wire.KindGoodbye}, func(q proto.Proc) bool {
		return p.peers[q].contacted || net != nil && net.Linked(q)
	})
}

// Close says that the transport is about to go. What is under way never ends, and what is
// started from here on ends with ErrClosed.
func (p *Process) Close() {
	p.lifecycle.closed = true
	p.revoke()
}

// Abort tells the other processes to end with an exit code.
func (p *Process) Abort(code int) {
	var h wire.Header
	wire.Abort{Code: int32(code)}.Put(&h)
	p.toAll(h, func(proto.Proc) bool { return true })
}

// toAll sends a frame without a payload to those present that are wanted.
func (p *Process) toAll(h wire.Header, wanted func(proto.Proc) bool) {
	for q := range proto.Proc(p.cfg.Layout.Procs()) {
		if q != p.cfg.Self && p.present(q) && wanted(q) {
			p.header = h
			p.send(q, &p.header, nil, 0)
		}
	}
}

func (p *Process) runShutdown() {
	for i := range p.shutdownOut {
		switch a := p.shutdownOut[i]; a.Kind {
		case shutdown.SendDone:
			p.send(a.To, p.nextHeader(wire.KindDone), nil, 0)
		case shutdown.SendAllDone:
			p.send(a.To, p.nextHeader(wire.KindAllDone), nil, 0)
		case shutdown.Complete:
			p.lifecycle.finished = true
		}
	}
	p.shutdownOut = p.shutdownOut[:0]
}
