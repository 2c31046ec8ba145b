package launcher

import (
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// These functions end the job at once. Otherwise it ends when all processes have ended.

// loseRank ends the job because a rank is lost.
func (j *job) loseRank(rank proto.Rank, text string) {
	how, code := j.ledger.howLost(rank), j.ledger.rankEnd(rank).code
	j.note(fmt.Sprintf("%s; rank %d is lost (%s): the job ends with exit code %d", text, rank, how, code))
	j.end(OutcomeRankLost, fmt.Sprintf("rank %d is lost: %s", rank, how), code)
	j.killAll()
}

// abort ends the job because a process asks for it.
func (j *job) abort(p *process, code int, text string) {
	if j.ending {
		return
	}
	status := code & 0xff
	if status == 0 && code != 0 {
		status = 1 // the kernel would pass on 0, which means success
	}
	reason := fmt.Sprintf("%s aborted the job with code %d", j.name(p), code)
	if text != "" {
		reason += ": " + text
	}
	j.note(reason)
	j.end(OutcomeAborted, reason, status)
	j.killAll()
}

// abortable are those processes of a group that run, if the job can go on without them. Else it is
// nil.
func (j *job) abortable(group []proto.Proc) (all []*process) {
	if len(group) == 0 || !j.goesOn() || j.back != nil {
		return nil
	}
	others := j.running
	for _, q := range group {
		if !j.ledger.valid(q) {
			return nil
		}
		if j.ledger.entries[q].end.kind == running {
			all = append(all, j.procs[q])
			others--
		}
	}
	if others <= 0 {
		return nil
	}
	return all
}

// abortGroup ends the processes of a communicator because one of them asks for it. The program goes
// on without them.
func (j *job) abortGroup(p *process, m control.Message, group []*process) {
	if j.ending {
		return
	}
	var ranks []int
	for _, q := range group {
		ranks = append(ranks, int(j.ledger.Rank(q.id)))
	}
	slices.Sort(ranks)
	who := "rank"
	if len(ranks) > 1 {
		who = "ranks"
	}
	text := fmt.Sprintf("%s aborted %s %s with code %d", j.name(p), who, listed(ranks), m.Code)
	if m.Text != "" {
		text += ": " + m.Text
	}
	j.note(text)
	for _, q := range group {
		q.Signal(unix.SIGKILL)
	}
}

// timedOut ends a job that has taken longer than its limit.
func (j *job) timedOut() {
	if j.ending || j.running == 0 && len(j.spawned.running) == 0 {
		return
	}
	reason := fmt.Sprintf("the job has taken longer than its limit of %v", j.Limit)
	j.note(reason)
	j.end(OutcomeTimedOut, reason, CodeTimedOut)
	j.explainAndKill()
}

// halt ends the job because Config.Stop was closed.
func (j *job) halt() {
	if !j.ending && (j.running > 0 || len(j.spawned.running) > 0) {
		j.end(OutcomeInterrupted, "stopped by its caller", 1)
		j.killAll()
	}
}

// end decides the outcome of the job.
func (j *job) end(outcome, reason string, code int) {
	j.ending = true
	j.report.LostRanks = j.ledger.lostRanks() // before the other processes are killed
	j.report.Outcome, j.report.Reason, j.report.ExitCode = outcome, reason, code
	j.endAttempts()
}

// killAll kills all processes, also those that can't be reached now.
func (j *job) killAll() {
	j.killing = true
	j.signalAll(unix.SIGKILL)
	j.spawned.stop()
}

// killAgain kills again what was killed before. A signal to a host that can't be reached for a
// moment is lost, and its processes may go on afterwards.
func (j *job) killAgain() {
	for _, p := range j.processes() {
		if j.killing || p == j.procs[p.id] && j.ledger.entries[p.id].fenced {
			p.Signal(unix.SIGKILL)
		}
	}
	if j.recovery == nil {
		return
	}
	for _, a := range j.recovery.Attempts() {
		if p := j.replacementOf(a); p != nil && a.Dismissed() {
			p.Signal(unix.SIGKILL)
		}
	}
}

func (j *job) signalAll(s syscall.Signal) {
	for _, p := range j.processes() {
		p.Signal(s)
	}
}
