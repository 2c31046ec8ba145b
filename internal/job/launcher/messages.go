package launcher

import (
	"fmt"
	"log/slog"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto/thinning"
)

// said takes a message of a process.
func (j *job) said(p *process, m control.Message) {
	slog.Debug("heard", "process", p.id, "message", m)
	if j.back != nil && (j.back.falling || p != j.procs[p.id]) {
		return // of a process that is killed, or was
	}
	e := &j.ledger.entries[p.id]
	switch m.Type {
	case control.Ready:
		e.ready, e.pid = true, m.Pid
		j.changed()
	case control.Survive:
		if j.FaultTolerance != FaultToleranceNo {
			j.ledger.survive = true
			j.changed()
		}
	case control.Counted:
		j.leadThinning(func(c *thinning.Coordinator, out *thinning.Actions) { c.Counted(p.id, m.Number, out) })
	case control.Settled:
		j.leadThinning(func(c *thinning.Coordinator, out *thinning.Actions) {
			if c.Ended(p.id, m.Results); !m.Opaque {
				c.Settled(p.id, m.Number, out)
			}
		})
	case control.Claim:
		j.leadThinning(func(c *thinning.Coordinator, out *thinning.Actions) { c.Waits(p.id, m.Claims, out) })
	case control.Spawn:
		j.spawn(p, m)
	case control.Disown:
		j.spawned.disown(p, m.Number)
	case control.Led:
		j.led(j.ledger.Rank(p.id), m.Cause, m.Text)
	case control.Finalized:
		e.finalized = true
		j.changed()
		j.stopRecovery()
	case control.Healable:
		j.healable(p, m.Opaque)
	case control.Unhealable:
		j.warnOnce(fmt.Sprintf("%v %s", j.ledger.Rank(p.id), m.Text), fmt.Sprintf("%s %s", j.name(p), m.Text))
	case control.Mark:
		j.mark(p, m)
	case control.Abort:
		if group := j.abortable(m.Group); group != nil {
			j.abortGroup(p, m, group)
		} else {
			j.abort(p, m.Code, m.Text)
		}
	case control.Suspect:
		j.suspected(p, m)
	case control.Corrupted:
		j.corrupted(p, m)
	case control.View:
		j.viewed(m)
	case control.Waits:
		j.explained(p, m.Text)
		if j.recovery != nil {
			j.recovery.Heard(p.identity(), m.Number)
			j.beginAttempts()
		}
	case control.SnapshotReport:
		j.reported(p, m.Report, m.Kept)
	case control.AtSafepoint:
		j.atSafepoint(p, m.Opaque)
	case control.Prepared:
		j.prepared(p)
	case control.Through:
		j.leaving(p)
	case control.Lost:
		if j.ledger.valid(m.Proc) {
			j.remark(fmt.Sprintf("%s was told of the loss of %v: %s", j.name(p), j.ledger.Rank(m.Proc), m.Text))
		}
	}
}

// viewed writes a view into the report.
func (j *job) viewed(m control.Message) {
	v := View{Number: m.Number, Members: m.Members, Gone: []Gone{}, At: Seconds(time.Since(j.started))}
	for _, q := range m.Joined {
		v.Joined = append(v.Joined, int(q))
		if j.ledger.valid(q) {
			j.procs[q].member = true
		}
	}
	for _, g := range m.Gone {
		v.Gone = append(v.Gone, Gone{int(g.Proc), g.Why})
	}
	j.report.Views = append(j.report.Views, v)
}
