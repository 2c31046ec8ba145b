package join

import (
	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/verify"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/mesh"
)

// supervisor is the party outside this process that hears of deaths and has dead replicas
// replaced: the launcher (launched), the spare leader (spareLed), or none (unsupervised).
type supervisor interface {
	// reaps says whether it reaps the job's processes, so that it knows every death for certain.
	reaps() bool

	// awaitSlot returns when this process has a slot in the job: at once, unless it is a spare.
	awaitSlot() error
	// begin tells the supervisor that this process takes part in the job, and begins to act on
	// what the supervisor says. The engine runs by then.
	begin() error
	// joinFailed says that Join is about to return an error.
	joinFailed(err error)

	// card is where a replacement is reached of which this process was told.
	card(p proto.Proc) (card mesh.Card, is bool)

	// died, viewed and corrupted pass on what the engine says.
	died(r detector.Report)
	viewed(e engine.Event)
	corrupted(c process.Corruption)

	// thins tells whether the supervisor leads a replicated job on when a rank is lost.
	thins() bool
	// thinning passes on what this process has to say then.
	thinning(m control.Message)
	// recoveryStep passes on how far a recovery has come.
	recoveryStep(m control.Message)
	// replacementFailed says why this replacement ends now.
	replacementFailed(m control.Message)
	// led says from which call on a replica of this rank decides what timing decides.
	led(call, where string)
	// cannotDonate says why this process can't give its state to a replacement, now or ever.
	cannotDonate(why string)

	// survives says that the program goes on when a rank is lost.
	survives()
	// rankLost ends this process because of the loss of a rank, or (proto.AnyRank) the job's abort
	// by another one.
	rankLost(rank proto.Rank, code int, why string)
	// announced tells whether the supervisor has announced the death of a rank's processes. If it
	// hasn't ended the job by then, the job goes on without the rank.
	announced(rank proto.Rank) bool
	// awaitKill waits for the supervisor to kill this process, for as long as that may take, if
	// it is about to.
	awaitKill()
	// abort tells all that the job is aborted. Then this process exits.
	abort(group []proto.Proc, code int, why string)
	// through says that the program is through: this process waits until all others are.
	through()
	// leave says that this process leaves in order.
	leave()
}

// unsupervised is the supervisor of a process that has none. The processes find out about deaths
// from each other.
type unsupervised struct{ job *Job }

func (u *unsupervised) reaps() bool      { return false }
func (u *unsupervised) awaitSlot() error { return nil }
func (u *unsupervised) begin() error     { return nil }

func (u *unsupervised) joinFailed(err error) { u.job.launcher.Abort(1, err.Error()) }

func (u *unsupervised) card(proto.Proc) (card mesh.Card, is bool) { return card, false }

// died tells a process that was silent that it is dead. No other party kills it: if it is alive
// it must stop as soon as it can be reached.
func (u *unsupervised) died(r detector.Report) {
	if r.Cause == detector.CauseSilence {
		go u.job.fence(r.Proc)
	}
}

func (u *unsupervised) viewed(engine.Event) {}

// corrupted stops this process if it is the one whose data is wrong, or else tells the one that
// is.
func (u *unsupervised) corrupted(c process.Corruption) {
	if c.Kind == verify.Outnumbered {
		u.job.stop(c.String())
		return
	}
	u.job.log.Warn(c.String(), "self", int(u.job.self))
	for i, q := range c.Procs {
		u.job.Engine.Hearsay(q, c.Incarnations[i])
		u.job.fence(q)
	}
}

func (u *unsupervised) thins() bool                       { return false }
func (u *unsupervised) thinning(control.Message)          {}
func (u *unsupervised) recoveryStep(control.Message)      {}
func (u *unsupervised) replacementFailed(control.Message) {}
func (u *unsupervised) led(call, where string)            { u.job.log.Debug("led", "call", call, "where", where) }
func (u *unsupervised) cannotDonate(why string)           { u.job.log.Warn(why) }
func (u *unsupervised) survives()                         {}

// rankLost ends only this process. What it knows may be one side's view of a cut network, and the
// other processes find out what concerns them.
func (u *unsupervised) rankLost(_ proto.Rank, code int, why string) {
	if why != "" {
		u.job.stderr("process %d: %s", u.job.self, why)
	}
	u.job.exit(code)
}

func (u *unsupervised) announced(proto.Rank) bool { return false }

func (u *unsupervised) awaitKill() {}

func (u *unsupervised) abort(_ []proto.Proc, code int, why string) {
	u.job.leaving.Store(true)
	if why != "" {
		u.job.stderr("process %d aborts the job: %s", u.job.self, why)
	}
	u.job.Engine.Abort(code)
	u.job.launcher.Abort(code, why)
}

func (u *unsupervised) through() {}
func (u *unsupervised) leave()   {}
