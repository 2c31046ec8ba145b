package join

import (
	"fmt"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// watch acts on what the engine says of the job.
func (j *Job) watch() {
	defer close(j.watched)
	for {
		select {
		case <-j.done:
			return
		case e := <-j.Engine.Events():
			j.handle(e)
		}
	}
}

func (j *Job) handle(e engine.Event) {
	if j.options.Heard != nil {
		j.options.Heard(e)
	}
	switch e.Kind {
	case engine.Died:
		r := e.Report
		j.log.Debug("a process died", "self", int(j.self), "proc", int(r.Proc), "cause", r.Cause,
			"silent", time.Duration(r.Silent), "by", int(r.By))
		j.supervisor.died(r)
	case engine.RankLost:
		if !j.survive.Load() {
			j.endLost(e.Rank)
		} else if j.layout.Replicated() && !j.thins() {
			j.losses.ranks = append(j.losses.ranks, e.Rank)
			j.judgeLosses()
		}
	case engine.RankGone, engine.Settled, engine.Claims, engine.Outrun:
		j.thinningStep(e)
	case engine.Viewed:
		j.supervisor.viewed(e)
		j.losses.view = e.View
		j.judgeLosses()
	case engine.Minority:
		j.stop(fmt.Sprintf("%d of %d processes are gone, some of them silent: they may go on without this side, which stops",
			len(e.Gone), len(e.View.Members)))
	case engine.Apart:
		j.stop(fmt.Sprintf("process %d and this one can't reach each other, though others reach both: this one stops", e.By))
	case engine.Fenced:
		j.stop(fmt.Sprintf("process %d of the job holds this one for dead: it stops", e.By))
	case engine.Aborted:
		j.end(proto.AnyRank, e.Code, "")
	case engine.Heals:
		j.recoveryStep(e)
	case engine.Unhealable:
		j.supervisor.cannotDonate(e.Text)
	}
}

func (j *Job) judgeLosses() {
	if rank, is := j.losses.certain(j.layout); is {
		j.endLost(rank)
	}
}

func (j *Job) endLost(rank proto.Rank) {
	j.end(rank, 1, fmt.Sprintf("rank %d is lost: the last of its %d replicas died", rank, j.layout.Degree(rank)))
}

// recoveryStep tells the supervisor how far a recovery has come.
func (j *Job) recoveryStep(e engine.Event) {
	switch e.Step {
	case process.StepHealable:
		j.supervisor.recoveryStep(control.Message{Type: control.Healable, Opaque: e.Opaque})
	case process.StepMark:
		j.supervisor.recoveryStep(control.Message{Type: control.Mark, Proc: e.Replacement, Incarnation: e.Incarnation})
	case process.StepCommitted:
		j.supervisor.recoveryStep(control.Message{Type: control.Committed})
	case process.StepHealed:
		j.supervisor.recoveryStep(control.Message{Type: control.Healed, Proc: j.self})
	}
}
