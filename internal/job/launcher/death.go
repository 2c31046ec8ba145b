package launcher

import (
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// reaped takes the end of a process. It enters the end in the ledger, tells the others, and reports
// a death.
func (j *job) reaped(p *process, status unix.WaitStatus, at time.Time) {
	var signal syscall.Signal
	if status.Signaled() {
		signal = status.Signal()
	}
	end := j.ledger.ended(p.id, signal, max(0, status.ExitStatus()))
	slog.Debug("ended", "process", p.id, "pid", p.pid, "how", end)
	j.running--
	j.server.Gone(int(p.id))
	if p.stdin != nil {
		j.feeder.remove(j.ledger.Replica(p.id))
	}
	// A process that exits after finalising has written all it wanted to.
	j.announceEnd(p, end.kind == inOrder || end.kind == failedLate && end.signal == 0)
	if j.ending {
		return
	}
	if end.kind == diedEarly {
		j.tellOthers(p, control.Message{Type: control.Death, Proc: p.id, Incarnation: p.incarnation,
			Signal: int(end.signal), Code: end.code, Cause: j.how(p, end)})
	} else {
		j.tellOthers(p, control.Message{Type: control.Left, Proc: p.id})
	}
	if end.kind != inOrder {
		j.died(p, end, at)
	}
}

// tellOthers sends a message about p to all other live processes.
func (j *job) tellOthers(p *process, m control.Message) {
	for _, q := range j.processes() {
		if q != p && (q != j.procs[q.id] || j.ledger.entries[q.id].end.kind == running) {
			q.outbox.put(m)
		}
	}
}

// died reports a death. If the rank is lost by it, the job ends, or the program goes on without the
// rank. Otherwise a replacement may begin.
func (j *job) died(p *process, end ending, at time.Time) {
	d := j.deathReport(p, end, at)
	j.report.Deaths = append(j.report.Deaths, d)
	text := d.line(j.name(p), j.how(p, end))
	rank := j.ledger.Rank(p.id)
	switch {
	case !j.ledger.rankEnd(rank).lost, j.mayBeSaved(rank):
		j.note(text)
	case j.ledger.survive:
		j.note(fmt.Sprintf("%s; rank %d is lost, and the program goes on without it", text, rank))
	default:
		j.loseRank(rank, text)
		return
	}
	if end.kind == diedEarly {
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, p.identity(), "", out) })
		j.beginNextAttempt()
	}
}

// deathReport is what the report says of a death.
func (j *job) deathReport(p *process, end ending, at time.Time) Death {
	e := &j.ledger.entries[p.id]
	rank := j.ledger.Rank(p.id)
	d := Death{
		Rank: int(rank), Replica: j.ledger.Replica(p.id), Process: int(p.id), PID: p.pid,
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
	case j.ledger.entries[p.id].outvoted && end.signal == unix.SIGKILL:
		return CauseCorruption
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
