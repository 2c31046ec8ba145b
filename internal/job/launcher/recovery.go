package launcher

import (
	"slices"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// With --heal, a replacement fills the slot of a replica that died: a process like the first one,
// which gets the state of a donor, a live replica of the rank, directly from the donor. Package
// recovery decides what is sent to whom, and when. This file passes events to it and carries out
// its actions. replacement.go handles the replacement's process, donor.go the donor's input and
// output.
//
// A replacement that ends before it has committed leaves everything as it was. Until then its slot
// counts as vacant. But its rank isn't lost before the replacement has ended, too.
//
// Replacements of different ranks are started, and join, at the same time: those of a host.

// atOnce is how many replacements are on their way at a time at most. Mostly they wait, so there
// may be more than cores: with 2 cores, 8 at a time were whole sooner than 2. But their states
// share networks, and each has to come within a limit. If they are too slow, package recovery
// halves the number.
const atOnce = 16

// recoveryLead leads the recovery of a job. nil: there is none.
type recoveryLead struct {
	*recovery.Machine
	// inputAtMark is how much input a process had read at its first safe point, for processes that
	// can't tell how much of that their program has taken.
	inputAtMark  map[proto.Proc]int64
	replacements []*replacement // that don't fill their slots yet
	timer        proto.Time     // the deadline for which a timer is set
}

// actions are what package recovery wants done.
type actions = []recovery.Action

// heals says whether dead processes are replaced.
func (p *plan) heals() bool { return p.Heal && p.layout.Replicated() }

func newRecoveryLead(p *plan) *recoveryLead {
	if !p.heals() {
		return nil
	}
	return &recoveryLead{
		Machine: recovery.New(p.layout, p.healLimit, true, atOnce), inputAtMark: map[proto.Proc]int64{}, timer: proto.Never,
	}
}

// clock is the time since the job's start.
func (j *job) clock() proto.Time { return proto.Time(time.Since(j.started)) }

// lead tells the recovery something and carries out its actions. It does nothing if the job has no
// recovery.
func (j *job) lead(tell func(m *recovery.Machine, now proto.Time, out *actions)) {
	r := j.recovery
	if r == nil || j.isFalling() {
		return
	}
	var out actions
	tell(r.Machine, j.clock(), &out)
	for _, a := range out {
		j.carryOut(a)
	}
	j.endJoining()
	j.watchDrains()
	j.beginThinning()
	if deadline := r.Deadline(); deadline != r.timer {
		if r.timer = deadline; deadline != proto.Never {
			time.AfterFunc(time.Duration(deadline-j.clock()), func() {
				j.post(func() { j.lead((*recovery.Machine).Tick) })
			})
		}
	}
}

// beginAttempts starts the replacements that can start now. None can while a snapshot is taken or
// loaded: it is called again then.
func (j *job) beginAttempts() {
	if j.back != nil && j.back.Busy() {
		if j.recovery != nil {
			j.recovery.NotNow()
		}
		return
	}
	for began := true; began && !j.ending; {
		began = false
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
			began = m.Next(now, j.hasHome, j.donates, out)
		})
	}
}

// donates says whether a process can be a donor now.
func (j *job) donates(p proto.Proc) bool {
	e := &j.ledger.entries[p]
	return e.end.kind == running && !e.fenced && !e.finalized
}

// failAttempt ends the attempt of a replacement, if it is under way.
func (j *job) failAttempt(p recovery.Process, why string, blame recovery.Blame) {
	j.lead(func(m *recovery.Machine, _ proto.Time, out *actions) { m.Fail(p, why, blame, out) })
}

// stopRecovery says that the job is about to end: no slot is filled any more.
func (j *job) stopRecovery() {
	j.lead(func(m *recovery.Machine, _ proto.Time, out *actions) { m.Over(out) })
}

// carryOut carries out an action of the recovery.
func (j *job) carryOut(a recovery.Action) {
	about := func(t control.Type) control.Message {
		return control.Message{Type: t, Proc: a.Attempt.Proc, Incarnation: a.Attempt.Incarnation}
	}
	switch a.Kind {
	case recovery.Start:
		j.replacementJoins(a.Attempt.Proc)
		j.startReplacement(a.Attempt)
	case recovery.Admit:
		j.tellOthers(j.replacementOf(a.Attempt), about(control.Admit))
	case recovery.Donate:
		j.procs[a.Attempt.Donor.Proc].Say(about(control.Donate))
	case recovery.Drain:
		j.drain(a.Attempt)
	case recovery.Follow:
		j.outputs.follow(j.replacementOf(a.Attempt), j.procs[a.Attempt.Donor.Proc])
	case recovery.Marked:
		// Another launcher must know where the replacement's output begins.
		donor := j.procs[a.To.Proc]
		j.durably(func() { j.answerMark(donor, a.Replacement) })
	case recovery.Fill:
		if input, ok := j.recovery.inputAtMark[a.Attempt.Donor.Proc]; ok {
			j.recovery.inputAtMark[a.Attempt.Proc] = input
		}
		p := j.recovery.take(a.Attempt.Proc).process
		j.fill(p)
		j.replacementJoined(p, a.Attempt.Donor.Proc)
	case recovery.AskToGiveUp:
		ask := about(control.GiveUp)
		ask.Text = a.Text
		j.replacementOf(a.Attempt).Say(ask)
	case recovery.Dismiss:
		j.dismiss(a.Attempt, a.Text)
	case recovery.AnnounceDeath:
		r := j.recovery.at(a.Attempt.Proc)
		m := about(control.Death)
		m.Signal, m.Code, m.Cause = int(r.end.signal), r.end.code, "a replacement that failed"
		j.tellOthers(r.process, m)
	case recovery.Healed, recovery.Failed:
		j.report.Heals = append(j.report.Heals, j.healReport(a.Attempt))
		j.note(a.Text)
	case recovery.Ask: // it answers with Waits
		j.procs[a.To.Proc].Say(control.Message{Type: control.Explain, Number: a.Number})
	case recovery.Retire:
		j.retired(a.To)
	case recovery.Note:
		j.note(a.Text)
	case recovery.LeftVacant:
		j.warn(a.Text)
	}
}

// healReport is what the report says of an attempt.
func (j *job) healReport(a *recovery.Attempt) Heal {
	h := Heal{
		Rank: int(j.ledger.Rank(a.Proc)), Replica: j.ledger.Replica(a.Proc), Process: int(a.Proc), Incarnation: uint32(a.Incarnation),
		Donor: j.ledger.Replica(a.Donor.Proc), Began: Seconds(a.Began), Took: Seconds(j.clock() - a.Began), Error: a.Why,
	}
	if p := j.replacementOf(a); p != nil { // it could be started
		h.PID, h.Host = p.pid, j.hosts.name(p.host)
	}
	return h
}

// mayBeSaved says whether a replacement that has its donor's whole state may yet fill a slot of a
// rank without live replicas.
func (j *job) mayBeSaved(rank proto.Rank) bool {
	return j.recovery != nil && slices.ContainsFunc(j.recovery.Attempts(), func(a *recovery.Attempt) bool {
		return a.Phase == recovery.TakeOver && j.ledger.Rank(a.Proc) == rank
	})
}
