package launcher

import (
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// drainPause is how often the launcher checks whether it has read all that a donor wrote.
const drainPause = time.Millisecond

// healable notes that a process has come to a safe point. opaque says that the process can't tell
// how much of the input that it has read its program has taken.
func (j *job) healable(p *process, opaque bool) {
	if j.recovery == nil {
		return
	}
	j.recovery.Healable(p.identity())
	if p.incarnation == 0 { // for a replacement its donor's value holds: it has read the same input
		read := j.inputRead(p)
		if opaque {
			j.recovery.inputAtMark[p.id] = read
		}
		p.outbox.put(control.Message{Type: control.Noted, Input: read})
	}
	j.beginNextAttempt()
}

// inputRead is how much input a paused process has read.
func (j *job) inputRead(p *process) int64 {
	if p.stdin == nil {
		return 0
	}
	return j.feeder.taken(j.ledger.Replica(p.id))
}

// mark takes a donor's message that its program is paused for a replacement.
func (j *job) mark(donor *process, m control.Message) {
	replacement := recovery.Process{Proc: m.Proc, Incarnation: m.Incarnation}
	if j.recovery == nil { // the donor wasn't asked
		j.answerMark(donor, replacement)
		return
	}
	j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
		m.Mark(now, donor.identity(), replacement, out)
	})
}

// answerMark tells a donor that its mark was seen: its output up to the mark was passed on.
func (j *job) answerMark(donor *process, replacement recovery.Process) {
	donor.outbox.put(control.Message{Type: control.Marked, Proc: replacement.Proc, Incarnation: replacement.Incarnation, Input: j.inputRead(donor)})
}

// drain reads all that the donor of a replacement has written by now.
func (j *job) drain(a *recovery.Attempt) {
	donor := j.procs[a.Donor.Proc]
	j.outputs.hurry(donor.id, true)
	donor.drains++
	go func() {
		defer j.outputs.hurry(donor.id, false)
		for !donor.stdout.drained() || !donor.stderr.drained() {
			select {
			case <-j.over:
				return
			case <-time.After(drainPause):
			}
		}
		j.post(func() {
			j.lead(func(m *recovery.Machine, _ proto.Time, out *actions) { m.Drained(donor.identity(), a.Process, out) })
			if donor.drains--; donor.drains == 0 && donor.afterDrain != nil {
				donor.afterDrain()
			}
		})
	}()
	if first, opaque := j.recovery.inputAtMark[donor.id]; opaque && j.inputRead(donor) != first {
		j.failAttempt(a.Process, "its rank has read input since its first safe point, through buffers of its own", recovery.Donor)
	}
}

// announceEnd tells the readers of a process's output how the process ended. If a replacement is to
// follow that output, this waits until the replacement does, because its rank may have no other
// replica.
func (j *job) announceEnd(p *process, inOrder bool) {
	if p.drains > 0 {
		p.afterDrain = func() { p.setEnd(inOrder) }
		return
	}
	p.setEnd(inOrder)
}
