package launcher

import (
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/fault"
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// evidenceGrace is how long a process whose connections are gone may take to be
// reaped before it is killed: normally it is just dying.
const evidenceGrace = 100 * time.Millisecond

// reaped takes the end of a process.
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
	// Whoever exits after finalising has written all it wanted to.
	j.settle(p, end.kind == inOrder || end.kind == badly && end.signal == 0)
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

// tellOthers sends news of p to all that live.
func (j *job) tellOthers(p *process, m control.Message) {
	for _, q := range j.everyone() {
		if q != p && (q != j.procs[q.id] || j.ledger.entries[q.id].end.kind == running) {
			q.news.put(m)
		}
	}
}

// died reports a death and ends the job if its rank is lost by it.
func (j *job) died(p *process, end ending, at time.Time) {
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
	j.report.Deaths = append(j.report.Deaths, d)
	text := d.line(j.name(p), j.how(p, end))
	lost := j.ledger.rankEnd(rank)
	switch {
	case !lost.lost:
		j.note(text)
	case j.hopeful(rank):
		j.note(text)
	case j.ledger.survive:
		j.note(fmt.Sprintf("%s; rank %d is lost, and the program goes on without it", text, rank))
	default:
		j.loseRank(rank, text)
		return
	}
	if end.kind == diedEarly {
		j.heals(func(h *recovery.Machine, now proto.Time, out *actions) { h.Died(now, p.who(), "", out) })
		j.healNext()
	}
}

// loseRank ends the job for the loss of a rank.
func (j *job) loseRank(rank proto.Rank, text string) {
	how, code := j.ledger.howLost(rank), j.ledger.rankEnd(rank).code
	j.note(fmt.Sprintf("%s; rank %d is lost (%s): the job ends with exit code %d", text, rank, how, code))
	j.end(OutcomeRankLost, fmt.Sprintf("rank %d is lost: %s", rank, how), code)
	j.killAll()
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
		if end.kind == badly {
			return end.String() + " after finalising"
		}
		return end.String()
	case e.silent == 0:
		return "cut off from the others, killed"
	default:
		return fmt.Sprintf("silent for %s, killed", brief(e.silent))
	}
}

// name names a process for people.
func (j *job) name(p *process) string {
	switch {
	case j.inproc():
		return fmt.Sprintf("the process of all ranks (pid %d)", p.pid)
	case j.layout.Degree(j.ledger.Rank(p.id)) == 1:
		return fmt.Sprintf("%v (pid %d)", j.ledger.Rank(p.id), p.pid)
	}
	return fmt.Sprintf("%v replica %d (pid %d)", j.ledger.Rank(p.id), j.ledger.Replica(p.id), p.pid)
}

// heard takes what a process said.
func (j *job) heard(p *process, m control.Message) {
	slog.Debug("heard", "process", p.id, "message", m)
	e := &j.ledger.entries[p.id]
	switch m.Type {
	case control.Ready:
		e.ready, e.pid = true, m.Pid
	case control.Survive:
		j.ledger.survive = true
	case control.Finalized:
		e.finalized = true
		j.stopHealing()
	case control.Healable:
		j.healable(p, m.Opaque)
	case control.Unhealable:
		if key := fmt.Sprintf("%v %s", j.ledger.Rank(p.id), m.Text); !j.told[key] { // by another replica of the rank
			j.told[key] = true
			j.warn(fmt.Sprintf("%s %s", j.name(p), m.Text))
		}
	case control.Mark:
		j.mark(p, m)
	case control.Abort:
		j.abort(p, m.Code, m.Text)
	case control.Suspect:
		j.suspected(p, m)
	case control.Corrupted:
		j.corrupted(p, m)
	case control.View:
		j.viewed(m)
	case control.Waits:
		j.explained(p, m.Text)
	case control.Lost:
		if j.ledger.valid(m.Proc) {
			j.remark(fmt.Sprintf("%s was told of the loss of %v: %s", j.name(p), j.ledger.Rank(m.Proc), m.Text))
		}
	}
}

// viewed notes a view for the report.
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

// suspected takes a suspicion. The word of a process that is itself held for
// dead doesn't count.
func (j *job) suspected(by *process, m control.Message) {
	if !j.ledger.valid(m.Proc) || j.ledger.entries[by.id].fenced {
		return
	}
	p := j.procs[m.Proc]
	if m.Incarnation != p.incarnation {
		j.doom(recovery.Process{Proc: m.Proc, Incarnation: m.Incarnation}, fmt.Sprintf("%v holds it for dead", by.id), recovery.Replacement)
		return // else it is of one whose place another has
	}
	if m.Silent > 0 {
		j.fence(p, by.id, m.Silent)
		return
	}
	time.AfterFunc(evidenceGrace, func() {
		j.tell(func() { j.fence(p, by.id, 0) })
	})
}

// fence kills a process that others hold for dead.
func (j *job) fence(p *process, by proto.Proc, silent time.Duration) {
	e := &j.ledger.entries[p.id]
	if j.ending || p != j.procs[p.id] || e.fenced || p.ended() {
		return
	}
	e.fenced, e.by, e.silent = true, by, silent
	p.signal(unix.SIGKILL)
}

// watch looks for stopped processes whose silence nobody else would notice:
// those that take no part yet while others do, or while another replica of their rank
// is through, replacements until a view has them, and, once anybody has left the ring of heartbeats
// in order, all: those who observed them may have left it, too.
func (j *job) watch(now time.Time) {
	needed, leaving := j.server.Waiting() > 0, false
	for i := range j.ledger.entries {
		needed = needed || j.ledger.entries[i].ready
		leaving = leaving || j.ledger.entries[i].finalized
	}
	for _, p := range j.everyone() {
		e := &j.ledger.entries[p.id]
		seated := p == j.procs[p.id]
		through := len(j.ledger.endings(j.ledger.Rank(p.id), inOrder)) > 0
		unseen := leaving || !e.ready && (needed || through) || p.incarnation > 0 && !p.member
		if seated && e.end.kind != running || !unseen || !p.stopped() {
			delete(j.stopped, p)
			continue
		}
		since, ok := j.stopped[p]
		silent := now.Sub(since)
		switch {
		case !ok:
			j.stopped[p] = now
		case silent < j.HeartbeatTimeout:
		case seated:
			j.fence(p, proto.NoProc, silent)
		default:
			j.doom(p.who(), "it was stopped", recovery.Replacement)
		}
	}
}

// planFaults sets the clocks of the planned faults.
func (j *job) planFaults() {
	for i, e := range j.planned {
		j.report.Faults = append(j.report.Faults, Fault{Event: e.String()})
		if e.At.Kind == fault.After {
			time.AfterFunc(e.At.Duration()-time.Since(j.started), func() {
				j.tell(func() { j.inject(i) })
			})
		}
	}
}

// inject carries out a planned fault.
func (j *job) inject(i int) {
	e := j.planned[i]
	p := j.procs[j.ledger.Proc(proto.Rank(e.Rank), e.Replica)]
	if j.ending || j.ledger.entries[p.id].end.kind != running {
		return // there is nobody to hit any more
	}
	now := time.Now()
	p.signal(e.Action.Signal())
	if _, twice := j.injected[p.id]; !twice {
		j.injected[p.id] = now
	}
	j.report.Faults[i].Injected = new(Seconds(now.Sub(j.started)))
}

// abort ends the job at the wish of a process.
func (j *job) abort(p *process, code int, text string) {
	if j.ending {
		return
	}
	status := code & 0xff
	if status == 0 && code != 0 {
		status = 1 // the kernel would make a success of it
	}
	reason := fmt.Sprintf("%s aborted the job with code %d", j.name(p), code)
	if text != "" {
		reason += ": " + text
	}
	j.note(reason)
	j.end(OutcomeAborted, reason, status)
	j.killAll()
}

// end decides the end of the job.
func (j *job) end(outcome, reason string, code int) {
	j.ending = true
	j.report.LostRanks = j.ledger.lostRanks() // before the others are killed
	j.report.Outcome, j.report.Reason, j.report.ExitCode = outcome, reason, code
}

func (j *job) killAll() { j.signalAll(unix.SIGKILL) }

func (j *job) signalAll(s syscall.Signal) {
	for _, p := range j.everyone() {
		p.signal(s)
	}
}

// note tells the user something.
func (j *job) note(text string) { j.notes.put(text) }

// remark writes something into the report.
func (j *job) remark(text string) { j.report.Warnings = append(j.report.Warnings, text) }

// warn does both.
func (j *job) warn(text string) {
	j.remark(text)
	j.note(text)
}

func (j *job) outputFailed(stream string, err error) {
	if j.outputError == nil {
		j.outputError = err
		j.warn(fmt.Sprintf("output to %s is lost: %v", stream, err))
	}
}
