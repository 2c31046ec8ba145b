package launcher

import (
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// replacementOf is the process of an attempt, nil if it couldn't be started.
func (j *job) replacementOf(a *recovery.Attempt) *process {
	if a.Committed() {
		return j.procs[a.Proc]
	}
	return j.recovery.replacement
}

// startReplacement starts the process of an attempt.
func (j *job) startReplacement(a *recovery.Attempt) error {
	p, err := j.spawner.startReplacement(a, j.incarnations())
	if err != nil {
		return err
	}
	j.recovery.replacement = p
	j.running++
	j.attach(p, j.replacementSaid, j.replacementReaped)
	if p.stdin != nil {
		lost := func() {
			j.failAttempt(p.identity(), fmt.Sprintf("its input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20), recovery.Donor)
		}
		if !j.feeder.replace(j.ledger.Replica(a.Proc), p.sink(), func() { j.post(lost) }) {
			lost()
		}
	}
	return nil
}

// incarnations tells a replacement the incarnations of all processes, and which are dead.
func (j *job) incarnations() string {
	incarnations, gone := make([]proto.Incarnation, j.size), make([]bool, j.size)
	for i := range incarnations {
		id := proto.Proc(i)
		// The last incarnation may be that of this replacement, or of one that failed.
		incarnations[i] = max(j.procs[i].incarnation, j.recovery.LastIncarnation(id))
		gone[i] = j.ledger.entries[i].end.kind != running
	}
	return env.FormatIncarnations(incarnations, gone)
}

// replacementSaid takes a message of a process that was started as a replacement, also when it has
// become a replica.
func (j *job) replacementSaid(p *process, m control.Message) {
	fillsSlot := p == j.procs[p.id]
	if fillsSlot && m.Type != control.Healed {
		j.said(p, m)
		return
	}
	slog.Debug("heard", "replacement", p.id, "message", m)
	switch m.Type {
	case control.Arrived:
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Arrived(now, p.identity(), out) })
	case control.Committed:
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Committed(now, p.identity(), out) })
	case control.Healed:
		if fillsSlot && p.stdin != nil {
			j.feeder.caughtUp(j.ledger.Replica(p.id))
		}
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Healed(now, p.identity(), p.pid, out) })
		j.beginNextAttempt()
	case control.HealFailed:
		j.failAttempt(p.identity(), m.Text, recovery.Replacement)
	case control.Unhealable:
		j.failAttempt(p.identity(), m.Text, recovery.Donor)
	case control.Abort:
		// The program of the replacement hasn't come as far as the others, which found no reason
		// to abort.
		why := fmt.Sprintf("it aborted with code %d", m.Code)
		if m.Text != "" {
			why += ": " + m.Text
		}
		j.failAttempt(p.identity(), why, recovery.Replacement)
	}
}

// fill makes a replacement the process of its slot.
func (j *job) fill(p *process) {
	j.procs[p.id] = p
	j.ledger.entries[p.id] = entry{ready: true, pid: p.pid, by: proto.NoProc}
	delete(j.injected, p.id)
}

// dismiss ends the replacement of an attempt. Its death ends the attempt.
func (j *job) dismiss(a *recovery.Attempt, why string) {
	if p := j.replacementOf(a); p != nil {
		p.signal(unix.SIGKILL)
		return
	}
	// It couldn't be started.
	j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, a.Process, why, out) })
	j.beginNextAttempt()
}

// replacementReaped takes the end of a process that was started as a replacement.
func (j *job) replacementReaped(p *process, status unix.WaitStatus, at time.Time) {
	if p == j.procs[p.id] {
		j.reaped(p, status, at) // the death of a replica
		return
	}
	j.running--
	p.setEnd(false)
	if !p.follows { // nothing reads its output
		p.stdout.Close()
		p.stderr.Close()
	}
	if p.stdin != nil {
		j.feeder.remove(j.ledger.Replica(p.id))
	}
	j.replacementEnded(status)
	rank := j.ledger.Rank(p.id)
	if !j.ending && j.ledger.rankEnd(rank).lost && !j.ledger.survive {
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// replacementEnded takes the end of the replacement that doesn't fill its slot yet.
func (j *job) replacementEnded(status unix.WaitStatus) {
	r := j.recovery
	if !j.ending {
		r.status = status
		end := ending{kind: diedEarly, code: max(0, status.ExitStatus())}
		if status.Signaled() {
			end = ending{kind: diedEarly, signal: status.Signal()}
		}
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
			m.Died(now, r.replacement.identity(), end.String(), out)
		})
	}
	r.replacement = nil
	j.beginNextAttempt()
}

// endLastReplacement ends a replacement that is left when the job is over.
func (j *job) endLastReplacement() {
	if j.recovery == nil || j.recovery.replacement == nil {
		return
	}
	p := j.recovery.replacement
	p.signal(unix.SIGKILL)
	for deadline := time.Now().Add(killDelay); !p.isReaped() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.setEnd(false)
	j.replacementEnded(unix.WaitStatus(unix.SIGKILL))
}
