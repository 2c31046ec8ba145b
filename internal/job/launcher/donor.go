package launcher

import (
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// healable notes that a process has come to a safe point. opaque says that the process can't tell
// how much of the input that it has read its program has taken.
func (j *job) healable(p *process, opaque bool) {
	if j.recovery == nil {
		return
	}
	j.recovery.Healable(p.identity())
	if p.incarnation == 0 { // for a replacement its donor's value holds: it has read the same input
		j.askInput(p, func(read int64) {
			if p != j.procs[p.id] {
				return
			}
			if opaque {
				j.recovery.inputAtMark[p.id] = read
			}
			if j.back != nil {
				j.noteOpaque(p, opaque, read)
			}
			p.Say(control.Message{Type: control.Noted, Input: read})
		})
	}
	j.beginAttempts()
}

// askInput calls told, in the loop, with how much input a paused process has read. The process's
// agent may be far away, so the loop doesn't wait.
func (j *job) askInput(p *process, told func(read int64)) {
	if !p.hasInput() {
		told(0)
		return
	}
	go func() {
		read := inputRead(p)
		j.post(func() { told(read) })
	}()
}

// inputRead waits for how much input a paused process has read. If it has ended that is 0, which
// nobody uses.
func inputRead(p *process) int64 {
	if !p.hasInput() {
		return 0
	}
	read, err := p.Stdin().Taken()
	if err != nil {
		return 0
	}
	return read
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
	j.askInput(donor, func(read int64) {
		donor.Say(control.Message{Type: control.Marked, Proc: replacement.Proc, Incarnation: replacement.Incarnation, Input: read})
	})
}

// drain reads all that the donor of a replacement has written by now. The donor is paused until
// then, so it is also the moment to see whether it has read input that can't be repeated.
func (j *job) drain(a *recovery.Attempt) {
	donor := j.procs[a.Donor.Proc]
	j.outputs.hurry(donor.id, true)
	donor.drains++
	go func() {
		defer j.outputs.hurry(donor.id, false)
		read := inputRead(donor)
		if !donor.Stdout().Drained(j.over) || !donor.Stderr().Drained(j.over) {
			return
		}
		j.post(func() {
			if first, opaque := j.recovery.inputAtMark[donor.id]; opaque && read != first && donor == j.procs[donor.id] {
				j.failAttempt(a.Process, "its rank has read input since its first safe point, through buffers of its own", recovery.Donor)
			}
			j.lead(func(m *recovery.Machine, _ proto.Time, out *actions) { m.Drained(donor.identity(), a.Process, out) })
			if donor.drains--; donor.drains == 0 && donor.afterDrain != nil {
				donor.afterDrain()
			}
		})
	}()
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
