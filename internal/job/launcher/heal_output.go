package launcher

import (
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// drainPause is how often the launcher looks whether it has read all that a donor wrote.
const drainPause = time.Millisecond

// mark takes a donor's word that its program is paused, for a replacement.
func (j *job) mark(donor *process, m control.Message) {
	if j.heal == nil { // nobody has asked it
		donor.news.put(control.Message{Type: control.Marked, Proc: m.Proc, Incarnation: m.Incarnation, Input: j.inputRead(donor)})
		return
	}
	j.heals(func(h *recovery.Machine, now proto.Time, out *actions) {
		h.Mark(now, donor.who(), recovery.Process{Proc: m.Proc, Incarnation: m.Incarnation}, out)
	})
}

// drain reads all that the donor of a replacement has written by now.
func (j *job) drain(a *recovery.Attempt) {
	donor := j.procs[a.Donor.Proc]
	rank, replica := int(j.ledger.Rank(donor.id)), j.ledger.Replica(donor.id)
	hurry := func(is bool) {
		j.outs[rank].Hurry(replica, is)
		j.errs[rank].Hurry(replica, is)
	}
	hurry(true)
	donor.drains++
	go func() {
		defer hurry(false)
		for !donor.stdout.drained() || !donor.stderr.drained() {
			select {
			case <-j.over:
				return
			case <-time.After(drainPause):
			}
		}
		j.tell(func() {
			j.heals(func(h *recovery.Machine, _ proto.Time, out *actions) { h.Drained(donor.who(), a.Process, out) })
			if donor.drains--; donor.drains == 0 && donor.rest != nil {
				donor.rest()
			}
		})
	}()
	if first, opaque := j.heal.marks[donor.id]; opaque && j.inputRead(donor) != first {
		j.doom(a.Process, "its rank has read input since its first safe point, through buffers of its own", recovery.Donor)
	}
}

// follow has the output of a replacement follow its donor's, which is read.
func (j *job) follow(p *process, donor proto.Proc) {
	rank := int(j.ledger.Rank(p.id))
	replica, like := j.ledger.Replica(p.id), j.ledger.Replica(donor)
	j.outs[rank].Revive(replica, like)
	j.errs[rank].Revive(replica, like)
	p.follows = true
	j.copyOut(p)
}

// settle says how a process has ended, to those who read its output. If a replacement is to
// follow it, that comes first: its rank may have no other replica.
func (j *job) settle(p *process, inOrder bool) {
	if p.drains > 0 {
		p.rest = func() { p.settle(inOrder) }
		return
	}
	p.settle(inOrder)
}
