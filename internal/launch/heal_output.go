package launch

import (
	"time"

	"banyan/internal/control"
	"banyan/internal/vacancy"
)

// mark has the output of the newcomer follow that of its donor, which is paused. If that newcomer has died meanwhile
// there is nothing to do: this mark isn't for the next one, before whose donation the donor writes more.
func (j *job) mark(donor *process, m control.Message) {
	h := j.heal
	read := j.inputRead(donor)
	if h == nil || h.now == nil || h.now.doomed || h.now.donor != donor || h.now.p.id != m.Proc || h.now.Life != m.Incarnation {
		m.Type, m.Input = control.Marked, read
		donor.news.put(m)
		return
	}
	a := h.now
	if a.paused {
		return // said twice
	}
	a.paused = true
	j.enterPart(vacancy.TakeOver)
	if first, opaque := h.marks[donor.id]; opaque && read != first {
		j.doomForGood("its rank has read input since its first safe point, through buffers of its own")
	}
	a.read = read
	j.follow(a)
}

// follow has the output of a newcomer follow all that its donor has written by now.
func (j *job) follow(a *attempt) {
	if a.following {
		return
	}
	a.following = true
	rank, replica := int(j.ledger.Rank(a.donor.id)), j.ledger.Replica(a.donor.id)
	hurry := func(is bool) {
		j.outs[rank].Hurry(replica, is)
		j.errs[rank].Hurry(replica, is)
	}
	hurry(true)
	go func() {
		defer hurry(false)
		for !a.donor.stdout.drained() || !a.donor.stderr.drained() {
			select {
			case <-j.over:
				return
			case <-time.After(drainPause):
			}
		}
		j.tell(func() { j.marked(a) })
	}()
}

// marked goes on with an attempt when all that the donor has written is read.
func (j *job) marked(a *attempt) {
	if j.heal.now == a {
		rank := int(j.ledger.Rank(a.p.id))
		replica, like := j.ledger.Replica(a.p.id), j.ledger.Replica(a.donor.id)
		j.outs[rank].Revive(replica, like)
		j.errs[rank].Revive(replica, like)
		a.p.follows = true
		j.copyOut(a.p)
	}
	if a.donorEnded != nil {
		a.donorEnded()
		return
	}
	a.donor.news.put(control.Message{Type: control.Marked, Proc: a.p.id, Incarnation: a.Life, Input: a.read})
}

// donorEnded ends an attempt whose donor has gone before it has given anything: the newcomer
// may not even know whose state it was to have. Later it finds out itself whether it has all.
func (j *job) donorEnded(p *process) {
	if h := j.heal; h != nil && h.now != nil && h.now.donor == p && !h.now.paused {
		j.doom("the replica whose state it was to take over has died")
	}
}

// settle says how a process has ended, to those who read its output. If a newcomer is to
// follow it, that comes first: its rank may have no other replica.
func (j *job) settle(p *process, inOrder bool) {
	if j.heal != nil && j.heal.now != nil && j.heal.now.donor == p && !j.heal.now.p.follows {
		a := j.heal.now
		a.donorEnded = func() { p.settle(inOrder) }
		j.follow(a)
		return
	}
	p.settle(inOrder)
}
