package join

import (
	"fmt"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// thins tells whether a launcher leads the job on when a rank is lost (internal/proto/thinning).
// That needs leader order: elsewhere replicas may have taken messages in different orders.
func (j *Job) thins() bool {
	return j.layout.Replicated() && j.order.Leader && j.snapshots == nil && j.supervisor.thins()
}

// hearThinning acts on what the launcher says when a rank is lost.
func (l *launched) hearThinning(m control.Message) {
	switch e := l.job.Engine; m.Type {
	case control.Count:
		l.lifeline.Send(control.Message{Type: control.Counted, Number: e.ArrivedOfLost()})
	case control.Thin:
		e.Thin(m.Group)
	case control.Owe:
		e.Claimed(m.Debts)
	case control.Show:
		l.results = append(l.results, m.Results...)
		if !m.Opaque {
			e.Show(l.results)
			l.results = nil
		}
	}
}

// thinningStep tells the supervisor how far this process has come.
func (j *Job) thinningStep(e engine.Event) {
	switch e.Kind {
	case engine.RankGone:
		if !j.survive.Load() {
			j.endLost(e.Rank)
			return
		}
		j.losses.ranks = append(j.losses.ranks, e.Rank)
		j.judgeLosses()
	case engine.Settled:
		for _, m := range control.WithResults(control.Message{Type: control.Settled, Number: e.Told}, e.Results) {
			j.supervisor.thinning(m)
		}
	case engine.Claims:
		j.supervisor.thinning(control.Message{Type: control.Claim, Claims: e.Claims})
	case engine.Outrun:
		what := "a rank needs messages"
		if e.Rank != proto.AnyRank {
			what = fmt.Sprintf("%v needs messages", e.Rank)
		}
		j.outrun(what + " of this rank that only dead replicas have sent, after messages that are lost with a rank: this one stops")
	}
}

// outrun ends this process, which nobody else is about to end.
func (j *Job) outrun(why string) {
	if j.leaving.Load() {
		return
	}
	j.stderr("process %d: %s", j.self, why)
	j.exit(1)
}
