package launcher

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// Where a replica has died, a replacement takes its place: a process like the first one, which
// gets the state of a donor, a live replica of the rank, from that directly. What is said
// about it, and to whom, package recovery decides. Here is what that takes: processes, signals, pipes,
// and the report.
//
// A replacement that ends before it has committed leaves all as it was. Until then its
// place counts as dead, but its rank isn't lost before the replacement has ended, too.

// healing has what there is to be healed. nil: nothing is.
type healing struct {
	*recovery.Machine
	work        func(f func() error) error // on the thread that starts processes
	marks       map[proto.Proc]int64       // how much input a process had read at its first safe point, if it can't say where in that it is
	replacement *process                   // that runs and has no place yet; nil: none
	status      unix.WaitStatus            // of the last one that ended so
	awaited     proto.Time                 // the deadline that a clock is set for
}

// actions are what is wanted done in a healing.
type actions = []recovery.Action

// healer makes what --heal needs.
func (p *plan) healer(work func(f func() error) error) *healing {
	if !p.Heal || !p.layout.Replicated() {
		return nil
	}
	return &healing{
		Machine: recovery.New(p.layout, p.healLimit, true), work: work, marks: map[proto.Proc]int64{}, awaited: proto.Never,
	}
}

// clock is the time since the job's start.
func (j *job) clock() proto.Time { return proto.Time(time.Since(j.started)) }

// heals tells what leads the healing of the job something, if anything does, and carries out what that wants.
func (j *job) heals(tell func(h *recovery.Machine, now proto.Time, out *actions)) {
	h := j.heal
	if h == nil {
		return
	}
	var out actions
	tell(h.Machine, j.clock(), &out)
	for _, a := range out {
		j.carryOut(a)
	}
	if deadline := h.Deadline(); deadline != h.awaited {
		if h.awaited = deadline; deadline != proto.Never {
			time.AfterFunc(time.Duration(deadline-j.clock()), func() {
				j.tell(func() { j.heals((*recovery.Machine).Tick) })
			})
		}
	}
}

// healNext has the next replacement started, if that can be now.
func (j *job) healNext() {
	if !j.ending {
		j.heals(func(h *recovery.Machine, now proto.Time, out *actions) {
			h.Next(now, func(proto.Proc) bool { return true }, j.donates, out)
		})
	}
}

// donates says whether a process is there to be a donor.
func (j *job) donates(p proto.Proc) bool {
	e := &j.ledger.entries[p]
	return e.end.kind == running && !e.fenced && !e.finalized
}

// carryOut does what is to be done in the healing of the job.
func (j *job) carryOut(a recovery.Action) {
	h := j.heal
	about := func(t control.Type) control.Message {
		return control.Message{Type: t, Proc: a.Attempt.Proc, Incarnation: a.Attempt.Incarnation}
	}
	switch a.Kind {
	case recovery.Start:
		if err := j.startReplacement(a.Attempt); err != nil {
			j.doom(a.Attempt.Process, err.Error(), recovery.Replacement)
		}
	case recovery.Admit:
		j.tellOthers(h.replacement, about(control.Admit))
	case recovery.Donate:
		j.procs[a.Attempt.Donor.Proc].news.put(about(control.Donate))
	case recovery.Drain:
		j.drain(a.Attempt)
	case recovery.Follow:
		j.follow(h.replacement, a.Attempt.Donor.Proc)
	case recovery.Marked:
		donor := j.procs[a.To.Proc]
		donor.news.put(control.Message{Type: control.Marked, Proc: a.Replacement.Proc, Incarnation: a.Replacement.Incarnation, Input: j.inputRead(donor)})
	case recovery.Fill:
		if mark, opaque := h.marks[a.Attempt.Donor.Proc]; opaque {
			h.marks[a.Attempt.Proc] = mark
		}
		j.seat(h.replacement)
		h.replacement = nil
	case recovery.Dismiss:
		if p := j.replacementOf(a.Attempt); p != nil {
			p.signal(unix.SIGKILL)
		} else { // it couldn't be started
			j.heals(func(h *recovery.Machine, now proto.Time, out *actions) {
				h.Died(now, a.Attempt.Process, a.Text, out)
			})
			j.healNext()
		}
	case recovery.AnnounceDeath:
		m := about(control.Death)
		m.Signal, m.Code, m.Cause = int(h.status.Signal()), max(0, h.status.ExitStatus()), "a replacement that failed"
		j.tellOthers(h.replacement, m)
	case recovery.Healed, recovery.Failed:
		j.report.Heals = append(j.report.Heals, j.healReport(a.Attempt))
		j.note(a.Text)
	case recovery.Note:
		j.note(a.Text)
	case recovery.LeftVacant:
		j.warn(a.Text)
	}
}

// replacementOf is the process of an attempt, nil if there is none.
func (j *job) replacementOf(a *recovery.Attempt) *process {
	if a.Committed() {
		return j.procs[a.Proc]
	}
	return j.heal.replacement
}

// startReplacement starts a process for a place.
func (j *job) startReplacement(a *recovery.Attempt) error {
	h, slot := j.heal, a.Proc
	rank := j.ledger.Rank(slot)
	part, err := j.home(slot, a.Incarnation)
	if err != nil {
		return err
	}
	environment := append(inherited(part.Env), j.environment(slot)...)
	environment = append(environment, env.Entry(env.Incarnations, j.incarnations()),
		env.Entry(env.OutputFDs, env.FormatOutputFDs(outputDescriptor, outputDescriptor+1)))
	var p *process
	err = h.work(func() (err error) {
		places, err := j.places()
		if err == nil {
			err = places.enter(int(slot))
		}
		if err == nil {
			p, err = start(slot, part, environment, j.input(rank), true)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("it can't be started: %w", err)
	}
	p.incarnation = a.Incarnation
	slog.Debug("replacement", "process", slot, "incarnation", p.incarnation, "pid", p.pid, "donor", a.Donor.Proc)
	h.replacement = p
	j.running++
	go j.server.Serve(int(slot), p.pmi)
	go p.listen(func(m control.Message) { j.tell(func() { j.heardReplacement(p, m) }) })
	go func() {
		status, at := p.wait()
		j.tell(func() { j.reapedReplacement(p, status, at) })
	}()
	if p.stdin != nil {
		missed := func() {
			j.doom(p.who(), fmt.Sprintf("its input isn't there any more from its beginning: the launcher keeps %d MiB", inputKept>>20), recovery.Donor)
		}
		if !j.feeder.revive(j.ledger.Replica(slot), p.sink(), func() { j.tell(missed) }) {
			missed()
		}
	}
	return nil
}

// lives tells a replacement the incarnations of all, and who is dead.
func (j *job) incarnations() string {
	incarnations, gone := make([]proto.Incarnation, j.size), make([]bool, j.size)
	for i := range incarnations {
		id := proto.Proc(i)
		incarnations[i] = max(j.procs[i].incarnation, j.heal.LastIncarnation(id)) // for this replacement, or those that failed
		gone[i] = j.ledger.entries[i].end.kind != running
	}
	return env.FormatIncarnations(incarnations, gone)
}

// who is what package recovery knows of a process.
func (p *process) who() recovery.Process {
	return recovery.Process{Proc: p.id, Incarnation: p.incarnation}
}

// doom ends the present attempt, if it is about a process.
func (j *job) doom(p recovery.Process, why string, blame recovery.Blame) {
	j.heals(func(h *recovery.Machine, _ proto.Time, out *actions) { h.Fail(p, why, blame, out) })
}

// heardReplacement takes what a process said that was started as a replacement, now and later.
func (j *job) heardReplacement(p *process, m control.Message) {
	seated := p == j.procs[p.id]
	if seated && m.Type != control.Healed {
		j.heard(p, m)
		return
	}
	slog.Debug("heard", "replacement", p.id, "message", m)
	switch m.Type {
	case control.Arrived:
		j.heals(func(h *recovery.Machine, now proto.Time, out *actions) { h.Arrived(now, p.who(), out) })
	case control.Committed:
		j.heals(func(h *recovery.Machine, now proto.Time, out *actions) { h.Committed(now, p.who(), out) })
	case control.Healed:
		if seated && p.stdin != nil {
			j.feeder.settle(j.ledger.Replica(p.id))
		}
		j.heals(func(h *recovery.Machine, now proto.Time, out *actions) { h.Healed(now, p.who(), p.pid, out) })
		j.healNext()
	case control.HealFailed:
		j.doom(p.who(), m.Text, recovery.Replacement)
	case control.Unhealable:
		j.doom(p.who(), m.Text, recovery.Donor)
	case control.Abort:
		// By a program that hasn't come as far as the others: they found no reason.
		why := fmt.Sprintf("it aborted with code %d", m.Code)
		if m.Text != "" {
			why += ": " + m.Text
		}
		j.doom(p.who(), why, recovery.Replacement)
	}
}

// seat gives a replacement the place that it was started for.
func (j *job) seat(p *process) {
	j.procs[p.id] = p
	j.ledger.entries[p.id] = entry{ready: true, pid: p.pid, by: proto.NoProc}
	delete(j.injected, p.id)
}

// healReport is what the report says of an attempt.
func (j *job) healReport(a *recovery.Attempt) Heal {
	r := Heal{Rank: int(j.ledger.Rank(a.Proc)), Replica: j.ledger.Replica(a.Proc), Process: int(a.Proc), Incarnation: uint32(a.Incarnation), Error: a.Why}
	if p := j.replacementOf(a); p != nil {
		r.PID, r.Donor = p.pid, j.ledger.Replica(a.Donor.Proc)
		r.Began, r.Took = Seconds(a.Began), Seconds(j.clock()-a.Began)
	}
	return r
}

// reapedReplacement takes the end of a process that was started as a replacement.
func (j *job) reapedReplacement(p *process, status unix.WaitStatus, at time.Time) {
	if p == j.procs[p.id] {
		j.reaped(p, status, at) // a death like any other
		return
	}
	j.running--
	p.settle(false)
	if !p.follows { // nobody reads it
		p.stdout.Close()
		p.stderr.Close()
	}
	if p.stdin != nil {
		j.feeder.remove(j.ledger.Replica(p.id))
	}
	j.endReplacement(status)
	rank := j.ledger.Rank(p.id)
	if !j.ending && j.ledger.rankEnd(rank).lost && !j.ledger.survive {
		j.loseRank(rank, fmt.Sprintf("no replica of rank %d is left", rank))
	}
}

// endReplacement says how one has ended that had no place yet.
func (j *job) endReplacement(status unix.WaitStatus) {
	h := j.heal
	if !j.ending {
		h.status = status
		end := ending{kind: diedEarly, code: max(0, status.ExitStatus())}
		if status.Signaled() {
			end = ending{kind: diedEarly, signal: status.Signal()}
		}
		j.heals(func(m *recovery.Machine, now proto.Time, out *actions) {
			m.Died(now, h.replacement.who(), end.String(), out)
		})
	}
	h.replacement = nil
	j.healNext()
}

// hopeful says whether a rank without live replicas may yet be saved by a replacement that
// has got all it needs.
func (j *job) hopeful(rank proto.Rank) bool {
	if j.heal == nil {
		return false
	}
	a := j.heal.Current()
	return a != nil && a.Phase == recovery.TakeOver && j.ledger.Rank(a.Proc) == rank
}

// healable notes that a rank can be healed from a process. opaque says that nobody can tell how
// much of the input that it has read its program has taken.
func (j *job) healable(p *process, opaque bool) {
	if j.heal == nil {
		return
	}
	j.heal.Healable(p.who())
	if p.incarnation == 0 { // else its donor's mark holds: it has read the same before
		read := j.inputRead(p)
		if opaque {
			j.heal.marks[p.id] = read
		}
		p.news.put(control.Message{Type: control.Noted, Input: read})
	}
	j.healNext()
}

// inputRead is how much input a process has read that is paused.
func (j *job) inputRead(p *process) int64 {
	if p.stdin == nil {
		return 0
	}
	return j.feeder.taken(j.ledger.Replica(p.id))
}

// everyone are all processes that may run.
func (j *job) everyone() []*process {
	if j.heal == nil || j.heal.replacement == nil {
		return j.procs
	}
	return append(slices.Clone(j.procs), j.heal.replacement)
}
