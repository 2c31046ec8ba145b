package launcher

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// replacement is what becomes of an attempt until it fills its slot or has ended.
type replacement struct {
	*recovery.Attempt
	host      int               // on which it is started, or runs
	process   *process          // nil: its agent has been asked to start it
	missed    []control.Message // what others were told while it was being started
	dismissed bool              // it was dismissed while it was being started
	end       ending
}

// at is the replacement for a slot, nil if there is none.
func (r *recoveryLead) at(slot proto.Proc) *replacement {
	for _, x := range r.replacements {
		if x.Proc == slot {
			return x
		}
	}
	return nil
}

// take takes the replacement for a slot off the list of those that don't fill theirs yet.
func (r *recoveryLead) take(slot proto.Proc) *replacement {
	x := r.at(slot)
	r.replacements = slices.DeleteFunc(r.replacements, func(y *replacement) bool { return x == y })
	return x
}

// replacementOf is the process of an attempt, nil if it wasn't or couldn't be started.
func (j *job) replacementOf(a *recovery.Attempt) *process {
	if a.Committed() {
		return j.procs[a.Proc]
	}
	if x := j.recovery.at(a.Proc); x != nil {
		return x.process
	}
	return nil
}

// startReplacement has the process of an attempt started. The loop doesn't wait for the agent.
func (j *job) startReplacement(a *recovery.Attempt) {
	predecessor := j.procs[a.Proc]
	host, ok := j.hosts.rehome(a.Proc, predecessor.host)
	if !ok { // it was there a moment ago
		j.failAttempt(a.Process, "its host is lost", recovery.Nobody)
		return
	}
	spec := j.spawner.replacementSpec(a, host, predecessor, j.replacementEnvironment(a))
	x := &replacement{Attempt: a, host: host}
	j.recovery.replacements = append(j.recovery.replacements, x)
	j.hosts.expect(a.Proc, host)
	where, base := j.hosts.agents[host], j.spawner.base
	// Another launcher mustn't start a process in the same incarnation.
	j.durably(func() {
		if x.dismissed {
			j.notStarted(x, nil)
			return
		}
		go func() {
			procs, err := where.Start([]agent.Spec{spec})
			j.post(func() {
				if err != nil {
					j.notStarted(x, err)
				} else {
					p := newProcess(&spec, procs[0], host)
					p.incarnation -= base
					j.beganReplacement(x, p)
				}
			})
		}()
	})
}

// notStarted ends an attempt whose process couldn't be started, or wasn't, because it was
// dismissed.
func (j *job) notStarted(x *replacement, err error) {
	j.recovery.take(x.Proc)
	j.hosts.unexpect(x.Proc)
	if j.isFalling() {
		j.startAgain()
		return
	}
	blame := recovery.Replacement
	if errors.Is(err, agent.ErrHostLost) {
		blame = recovery.Nobody // another host may do
	}
	if x.dismissed {
		j.dismiss(x.Attempt, "")
	} else {
		j.failAttempt(x.Process, fmt.Sprintf("it can't be started: %v", err), blame)
	}
}

// beganReplacement connects the process of an attempt.
func (j *job) beganReplacement(x *replacement, p *process) {
	slog.Debug("replacement", "process", p.id, "incarnation", p.incarnation, "pid", p.pid, "host", j.hosts.name(p.host), "donor", x.Donor.Proc)
	x.process = p
	j.hosts.unexpect(x.Proc)
	j.running++
	j.attach(p, j.replacementSaid, j.replacementReaped)
	if x.dismissed || j.killing || j.isFalling() {
		p.Signal(unix.SIGKILL)
	}
	for _, m := range x.missed {
		p.Say(m)
	}
	x.missed = nil
	if p.hasInput() {
		lost := j.inputLost(p)
		if !j.feeder.replace(j.ledger.Replica(p.id), sink{w: p.Stdin()}, lost) {
			go lost()
		}
	}
}

// inputLost is called when a replacement can't have its input from the beginning. It may wait for
// the loop.
func (j *job) inputLost(p *process) func() {
	why := fmt.Sprintf("its input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20)
	return func() { j.post(func() { j.failAttempt(p.identity(), why, recovery.Donor) }) }
}

// incarnations tells a replacement the incarnations of all processes, and which are dead. Of a slot
// that is being filled, too, it is told what the others were: of the replacement, if that was
// admitted, or else that the one before is dead.
func (j *job) incarnations(own *recovery.Attempt) string {
	incarnations, gone := make([]proto.Incarnation, j.size), make([]bool, j.size)
	for i := range incarnations {
		id := proto.Proc(i)
		// The last incarnation may be that of this replacement, or of one that failed.
		incarnations[i] = max(j.procs[i].incarnation, j.recovery.LastIncarnation(id))
		gone[i] = j.ledger.entries[i].end.kind != running
		if a := j.recovery.AttemptAt(id); a != nil && a.Process != own.Process && !a.Committed() {
			if gone[i] = a.Phase == recovery.GetReady; gone[i] {
				incarnations[i] = a.Incarnation - 1
			}
		}
	}
	return env.FormatIncarnations(incarnations, gone)
}

// replacementSaid takes a message of a process that was started as a replacement, also when it has
// become a replica.
func (j *job) replacementSaid(p *process, m control.Message) {
	if j.isFalling() {
		return
	}
	fillsSlot := p == j.procs[p.id]
	if fillsSlot && m.Type != control.Healed && m.Type != control.Committed {
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
		if fillsSlot && p.hasInput() {
			j.feeder.caughtUp(j.ledger.Replica(p.id))
		}
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Healed(now, p.identity(), p.pid, out) })
		j.beginAttempts()
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
	j.changed()
}

// dismiss ends the replacement of an attempt. Its death ends the attempt.
func (j *job) dismiss(a *recovery.Attempt, why string) {
	if p := j.replacementOf(a); p != nil {
		p.Signal(unix.SIGKILL)
		return
	}
	if x := j.recovery.at(a.Proc); x != nil {
		x.dismissed = true
		return
	}
	// It couldn't be started.
	j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, a.Process, why, out) })
	j.beginAttempts()
}

// replacementReaped takes the end of a process that was started as a replacement.
func (j *job) replacementReaped(p *process, e agent.End) {
	if p == j.procs[p.id] {
		j.reaped(p, e) // the death of a replica
		return
	}
	j.hosts.ended(p)
	signal, code := how(e)
	j.replacementPassed(p, ending{kind: diedEarly, signal: signal, code: code})
	j.restOfHost(p.host)
}

// replacementPassed takes the end of a replacement that doesn't fill its slot yet.
func (j *job) replacementPassed(p *process, end ending) {
	j.running--
	p.setEnd(false)
	if !p.follows { // nothing reads its output
		p.Stdout().Close()
		p.Stderr().Close()
	}
	if p.hasInput() {
		j.feeder.remove(j.ledger.Replica(p.id))
	}
	j.recovery.at(p.id).end = end
	if j.isFalling() {
		j.recovery.take(p.id)
		j.startAgain()
		return
	}
	if !j.ending {
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
			m.Died(now, p.identity(), end.String(), out)
		})
	}
	j.recovery.take(p.id)
	j.beginAttempts()
	rank := j.ledger.Rank(p.id)
	switch {
	case j.ending || j.isFalling() || !j.ledger.rankEnd(rank).lost:
	case j.goesOn():
		j.thin()
	default:
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// endAttempts ends the attempts that are under way, because the job's end is decided: the report
// then tells why no replacements came of them.
func (j *job) endAttempts() {
	if j.recovery == nil {
		return
	}
	for _, a := range j.recovery.Attempts() {
		if !a.Committed() {
			j.failAttempt(a.Process, recovery.End, recovery.Nobody)
		}
	}
}

// endReplacements ends the replacements that are left when the job is over.
func (j *job) endReplacements() {
	r := j.recovery
	if r == nil {
		return
	}
	j.endAttempts()
	for limit := time.After(killDelay); len(r.replacements) > 0; {
		for _, x := range r.replacements {
			if x.process != nil {
				x.process.Signal(unix.SIGKILL)
			}
		}
		select {
		case f := <-j.events:
			f()
		case <-limit:
			return // an agent doesn't answer
		}
	}
}
