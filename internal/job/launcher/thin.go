package launcher

import (
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/proto/thinning"
)

// A job with replicas, in leader order, whose program handles the loss of ranks goes on with one
// replica of each rank when it loses one (package thinning, decision 129). This is the driver of
// the coordinator. Replacements that are on their way end first, and none is started any more.

// thinningLead is what the launcher has for that.
type thinningLead struct {
	c *thinning.Coordinator // nil: no rank has been lost
}

// thins tells whether the job goes on with one replica of each rank when it loses one.
func (j *job) thins() bool {
	return j.layout.Replicated() && j.Order != OrderFree && j.back == nil
}

// thin begins to lead the job on with one replica of each rank.
func (j *job) thin() {
	if j.thinning.c == nil {
		j.thinning.c = thinning.NewCoordinator(j.layout)
		j.stopRecovery()
	}
	j.beginThinning()
}

// beginThinning begins as soon as no replacement is on its way.
func (j *job) beginThinning() {
	if c := j.thinning.c; c == nil || c.Begun() || j.ending || j.recovery != nil && len(j.recovery.Attempts()) > 0 {
		return
	}
	j.leadThinning(func(c *thinning.Coordinator, out *thinning.Actions) {
		c.Begin(func(p proto.Proc) bool { return j.ledger.entries[p].end.kind == running }, out)
	})
}

// leadThinning tells the coordinator something, and carries out what it asks for.
func (j *job) leadThinning(tell func(c *thinning.Coordinator, out *thinning.Actions)) {
	c := j.thinning.c
	if c == nil || j.ending {
		return
	}
	var out thinning.Actions
	tell(c, &out)
	dismissed := 0
	for _, a := range out {
		p := j.procs[a.To]
		switch a.Kind {
		case thinning.Ask:
			p.Say(control.Message{Type: control.Count})
		case thinning.Dismiss:
			dismissed++
			e := &j.ledger.entries[a.To]
			e.fenced, e.dismissed = true, true
			p.Signal(unix.SIGKILL)
		case thinning.Thin:
			p.Say(control.Message{Type: control.Thin, Group: c.Stay()})
		case thinning.Owe:
			p.Say(control.Message{Type: control.Owe, Debts: a.Debts})
		case thinning.Show:
			for _, m := range control.WithResults(control.Message{Type: control.Show}, c.Results()) {
				p.Say(m)
			}
		}
	}
	if dismissed > 0 {
		j.note(fmt.Sprintf("the job goes on with one replica of each rank: %d are ended", dismissed))
	}
}
