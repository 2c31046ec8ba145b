package launcher

import (
	"fmt"
	"log/slog"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
	"banyan/internal/proto/thinning"
)

// passing is the end of a process that filled its slot.
type passing struct {
	*process
	end ending
	at  time.Time
}

// reaped takes the end of a process.
func (j *job) reaped(p *process, e agent.End) {
	signal, code := how(e)
	j.hosts.ended(p)
	j.passed([]passing{{p, j.ledger.ended(p.id, signal, code), e.At}}, "")
	j.restOfHost(p.host)
}

// how splits the status of a process into its signal, or 0, and its exit code.
func how(e agent.End) (signal syscall.Signal, code int) {
	if e.Status.Signaled() {
		signal = e.Status.Signal()
	}
	return signal, max(0, e.Status.ExitStatus())
}

// passed takes the ends of processes that came at the same time, and that the ledger knows. It
// tells the other processes and reports deaths. cause is what all have in common, for the user; it
// may be empty if there is only one.
func (j *job) passed(all []passing, cause string) {
	defer j.changed()
	for _, x := range all {
		slog.Debug("ended", "process", x.id, "pid", x.pid, "how", x.end)
		j.running--
		j.server.Gone(int(x.id))
		if x.hasInput() {
			j.feeder.remove(j.ledger.Replica(x.id))
		}
		j.announceEnd(x.process, leftAll(x.end))
	}
	if j.ending {
		return
	}
	if j.back != nil && j.back.falling {
		j.fell(all)
		return
	}
	for _, x := range all {
		if x.end.kind == diedEarly {
			if j.makesGoBack(all) {
				continue
			}
			j.tellOthers(x.process, control.Message{Type: control.Death, Proc: x.id, Incarnation: x.incarnation,
				Signal: int(x.end.signal), Code: x.end.code, Cause: j.how(x.process, x.end)})
		} else {
			j.departed(x.process)
		}
	}
	deaths := slices.DeleteFunc(slices.Clone(all), func(x passing) bool { return x.end.kind == inOrder })
	if len(deaths) > 0 || cause != "" {
		j.died(deaths, cause)
	}
	if j.back != nil && !j.ending {
		j.fell(all)
	}
}

// leftAll says whether a process that ended so has written all that it wanted to. That is so if it
// has exited after finalising.
func leftAll(e ending) bool {
	return e.kind == inOrder || e.kind == failedLate && e.signal == 0 && !e.lost
}

// tellOthers sends a message about p to all other live processes, and to those that are being
// started as soon as they run.
func (j *job) tellOthers(p *process, m control.Message) {
	for _, q := range j.processes() {
		if q != p && (q != j.procs[q.id] || j.ledger.entries[q.id].end.kind == running) {
			q.Say(m)
		}
	}
	j.tellStarting(m)
}

// tellStarting tells replacements that are being started, as soon as they run.
func (j *job) tellStarting(m control.Message) {
	if j.recovery == nil {
		return
	}
	for _, x := range j.recovery.replacements {
		if x.process == nil {
			x.missed = append(x.missed, m)
		}
	}
}

// died reports deaths. If a rank is lost by them, the job ends, or the program goes on without the
// rank. Otherwise replacements may begin.
func (j *job) died(all []passing, cause string) {
	var lost []int
	for _, x := range all {
		d := j.deathReport(x.process, x.end, x.at)
		j.report.Deaths = append(j.report.Deaths, d)
		if cause == "" {
			cause = d.line(j.name(x.process), j.how(x.process, x.end))
		}
		if rank := j.ledger.Rank(x.id); j.ledger.rankEnd(rank).lost && !j.mayBeSaved(rank) {
			lost = append(lost, int(rank))
		}
	}
	slices.Sort(lost)
	switch lost = slices.Compact(lost); {
	case len(lost) == 0 && !j.makesGoBack(all):
		if len(all) == 0 || slices.ContainsFunc(all, func(x passing) bool { return !j.ledger.entries[x.id].dismissed }) {
			j.note(cause)
		}
	case j.goesBack(all):
		j.noteRollback(cause)
		return
	case !j.goesOn():
		if j.ledger.survive {
			cause += "; replicas of a rank would learn of that at different places, so the program can't go on without it (with --order leader it can)"
		}
		j.loseRank(proto.Rank(lost[0]), cause)
		return
	case len(lost) == 1:
		j.note(fmt.Sprintf("%s; rank %d is lost, and the program goes on without it", cause, lost[0]))
	default:
		j.note(fmt.Sprintf("%s; ranks %s are lost, and the program goes on without them", cause, listed(lost)))
	}
	if len(lost) > 0 && j.layout.Replicated() {
		j.thin()
	}
	for _, x := range all {
		j.leadThinning(func(c *thinning.Coordinator, out *thinning.Actions) { c.Gone(x.id, out) })
	}
	next := false
	for _, x := range all {
		if x.end.kind == diedEarly {
			j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, x.identity(), "", out) })
			next = true
		}
	}
	if next {
		j.beginAttempts()
	}
}

// goesOn tells whether the job goes on when a rank is lost: the program handles it, and the job
// has no replicas, which would learn of the loss at different places and then send different
// messages, or it can go on with one of each rank.
func (j *job) goesOn() bool {
	return j.ledger.survive && (!j.layout.Replicated() || j.thins())
}

// deathReport is what the report says of a death.
func (j *job) deathReport(p *process, end ending, at time.Time) Death {
	e := &j.ledger.entries[p.id]
	rank := j.ledger.Rank(p.id)
	d := Death{
		Rank: int(rank), Replica: j.ledger.Replica(p.id), Process: int(p.id), PID: p.pid, Host: j.hosts.name(p.host),
		Cause: j.cause(p, end), Signal: int(end.signal), Code: end.code, Finalized: e.finalized,
		FoundBy: foundByLauncher, At: Seconds(at.Sub(j.started)),
	}
	if e.fenced && e.by != proto.NoProc {
		d.FoundBy = e.by.String()
	}
	if e.fenced && e.silent > 0 {
		d.Latency = new(Seconds(e.silent))
	} else if hit, ok := j.injected[p.id]; ok {
		d.Latency = new(Seconds(at.Sub(hit)))
	}
	if replica, ok := j.ledger.substitute(rank); ok {
		d.Substitute = &replica
	}
	return d
}

// cause is the Cause constant of a death.
func (j *job) cause(p *process, end ending) string {
	switch {
	case end.lost:
		return CauseHostLost
	case j.ledger.entries[p.id].outvoted && end.signal == unix.SIGKILL:
		return CauseCorruption
	case j.ledger.entries[p.id].dismissed && end.signal == unix.SIGKILL:
		return CauseDismissed
	case j.ledger.entries[p.id].retired && end.signal == unix.SIGKILL:
		return CauseDrained
	case j.ledger.entries[p.id].fenced && end.signal == unix.SIGKILL:
		return CauseSilence
	case end.signal != 0:
		return CauseSignal
	case end.code != 0:
		return CauseExit
	}
	return CauseUnfinalized
}

// how tells how a process died.
func (j *job) how(p *process, end ending) string {
	switch e := &j.ledger.entries[p.id]; {
	case end.lost:
		return end.String()
	case j.cause(p, end) == CauseDismissed:
		return "the job goes on with another replica of its rank, killed"
	case j.cause(p, end) == CauseDrained:
		return "its host is drained, killed"
	case j.cause(p, end) == CauseCorruption:
		return "its data is wrong, killed"
	case j.cause(p, end) != CauseSilence:
		if end.kind == failedLate {
			return end.String() + " after finalising"
		}
		return end.String()
	case e.silent == 0:
		return "cut off from the others, killed"
	default:
		return fmt.Sprintf("silent for %s, killed", brief(e.silent))
	}
}
