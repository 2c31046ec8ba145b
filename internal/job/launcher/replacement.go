package launcher

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
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

// starting is a replacement that its agent has been asked to start.
type starting struct {
	*recovery.Attempt
	dismissed bool
}

// startReplacement has the process of an attempt started. The loop doesn't wait for the agent.
func (j *job) startReplacement(a *recovery.Attempt) {
	predecessor := j.procs[a.Proc]
	host, ok := j.hosts.rehome(a.Proc, predecessor.host)
	if !ok { // it was there a moment ago
		j.failAttempt(a.Process, "its host is lost", recovery.Nobody)
		return
	}
	spec := j.spawner.replacementSpec(a, host, predecessor, j.incarnations())
	s := &starting{Attempt: a}
	j.recovery.starting = s
	where := j.hosts.agents[host]
	// Another launcher mustn't start a process in the same incarnation.
	j.durably(func() {
		if s.dismissed {
			j.recovery.starting = nil
			j.dismiss(a, "")
			return
		}
		go func() {
			procs, err := where.Start([]agent.Spec{spec})
			j.post(func() {
				if j.recovery.starting = nil; err != nil {
					j.notStarted(s, err)
				} else {
					j.beganReplacement(s, newProcess(&spec, procs[0], host))
				}
			})
		}()
	})
}

// notStarted ends an attempt whose process couldn't be started.
func (j *job) notStarted(s *starting, err error) {
	blame := recovery.Replacement
	if errors.Is(err, agent.ErrHostLost) {
		blame = recovery.Nobody // another host may do
	}
	if s.dismissed {
		j.dismiss(s.Attempt, "")
	} else {
		j.failAttempt(s.Process, fmt.Sprintf("it can't be started: %v", err), blame)
	}
}

// beganReplacement connects the process of an attempt.
func (j *job) beganReplacement(s *starting, p *process) {
	slog.Debug("replacement", "process", p.id, "incarnation", p.incarnation, "pid", p.pid, "host", j.hosts.name(p.host), "donor", s.Donor.Proc)
	j.recovery.replacement = p
	j.running++
	j.attach(p, j.replacementSaid, j.replacementReaped)
	if s.dismissed || j.killing {
		p.Signal(unix.SIGKILL)
	}
	if p.hasInput() {
		lost := func() {
			j.failAttempt(p.identity(), fmt.Sprintf("its input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20), recovery.Donor)
		}
		if !j.feeder.replace(j.ledger.Replica(p.id), sink{w: p.Stdin()}, func() { j.post(lost) }) {
			lost()
		}
	}
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
	j.changed()
}

// dismiss ends the replacement of an attempt. Its death ends the attempt.
func (j *job) dismiss(a *recovery.Attempt, why string) {
	if p := j.replacementOf(a); p != nil {
		p.Signal(unix.SIGKILL)
		return
	}
	if s := j.recovery.starting; s != nil {
		s.dismissed = true
		return
	}
	// It couldn't be started.
	j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, a.Process, why, out) })
	j.beginNextAttempt()
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

// replacementPassed takes the end of the replacement that doesn't fill its slot yet.
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
	r := j.recovery
	if !j.ending {
		r.end = end
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
			m.Died(now, p.identity(), end.String(), out)
		})
	}
	r.replacement = nil
	j.beginNextAttempt()
	rank := j.ledger.Rank(p.id)
	if !j.ending && j.ledger.rankEnd(rank).lost && !j.ledger.survive {
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// endAttempt ends the current attempt, because the job's end is decided: the report then tells why
// no replacement came of it.
func (j *job) endAttempt() {
	if j.recovery == nil {
		return
	}
	if a := j.recovery.Current(); a != nil && !a.Committed() {
		j.failAttempt(a.Process, recovery.End, recovery.Nobody)
	}
}

// endLastReplacement ends a replacement that is left when the job is over.
func (j *job) endLastReplacement() {
	r := j.recovery
	if r == nil {
		return
	}
	j.endAttempt()
	for limit := time.After(killDelay); r.starting != nil || r.replacement != nil; {
		if r.replacement != nil {
			r.replacement.Signal(unix.SIGKILL)
		}
		select {
		case f := <-j.events:
			f()
		case <-limit:
			return // its agent doesn't answer
		}
	}
}
