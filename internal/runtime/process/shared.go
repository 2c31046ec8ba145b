package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// Collectives of unreplicated jobs on one host go through memory that the members share
// (internal/runtime/commons). What they need of the process is here.

// Undisturbed tells whether a context may be used and no rank of the job is lost. It is quick, and
// may be false though nothing is wrong.
func (p *Process) Undisturbed(context uint64) bool { return p.inOrder(context) }

// ContextError is why the program may not use a context, or nil.
func (p *Process) ContextError(context uint64) error { return p.contextError(context) }

// RankLost tells whether all replicas of a rank are dead, and the program may know of it.
func (p *Process) RankLost(r proto.Rank) bool { return p.lost(r) }

// Nudge wakes the process of a rank, if it sleeps: without a frame where there is a link already.
func (p *Process) Nudge(r proto.Rank) {
	q := p.cfg.Layout.Proc(r, 0)
	if p.nudger != nil && p.nudger.Nudge(q) {
		return
	}
	p.send(q, p.nextHeader(wire.KindNudge), nil, 0)
}

// Finished is a FinishedError if a rank is through, as far as this process knows from asking. What
// that rank has written into memory that both share was there before.
func (p *Process) Finished(r proto.Rank) error {
	if !p.over(r) || !p.waitsForOthers() {
		return nil
	}
	return p.finishedError(r)
}
