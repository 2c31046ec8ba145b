package launcher

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// A launcher that is lost may leave replacements that don't fill their slots yet. While such a one
// lives no other may begin in its slot, nobody may be told that it is dead, and its donor mustn't
// give it its state, unless this launcher counts it as a replacement too: there would be two
// processes that act as one. Its host may be out of reach, so to end it may take as long as a
// lease.
//
// If the launcher before had read its donor's output up to the mark, the donor may have given its
// state away by now: then the replacement goes on, because it may be the last of its rank. Any
// other one is ended, and its end is waited for as that of any attempt.

// late is a replacement that another launcher has begun, and that doesn't fill its slot.
type late struct {
	*process
	found *agent.Adopted
	left  recovery.Left
}

// newLate makes a replacement that was found on a host.
func newLate(x *agent.Adopted, host int, slot *SlotState) *late {
	return &late{
		found: x,
		left: recovery.Left{
			Process: recovery.Process{Proc: x.Proc, Incarnation: x.Incarnation}, Donor: slot.donor(),
			Arrived: said(x, control.Arrived), Follows: slot.Follows && slot.Last == x.Incarnation,
		},
		process: &process{
			Process: x.Process, id: x.Proc, incarnation: x.Incarnation, host: host, pid: x.PID(), barriers: x.Barriers, ended: make(chan struct{}),
		},
	}
}

// donor is that of the last replacement of a slot.
func (s *SlotState) donor() recovery.Process {
	return recovery.Process{Proc: s.Donor, Incarnation: s.DonorIncarnation}
}

// underWay chooses, among the replacements of a slot, the one that may live and be under way. Only
// the last can: it was begun after the deaths of the others.
func (j *job) underWay(slot *SlotState, found *agent.Adopted, all []*late) (x *late, gone []*late) {
	if len(all) == 0 {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b *late) int { return cmp.Compare(a.incarnation, b.incarnation) })
	last := all[len(all)-1]
	vacant := endKind(slot.Entry.Kind) == diedEarly
	if j.recovery == nil || !vacant || found != nil && found.Incarnation > last.incarnation {
		return nil, all
	}
	if last.left.Follows {
		last.base, last.tails, last.process.follows = slot.Next, slot.NextTails, true
	}
	return last, all[:len(all)-1]
}

// lateOf is the replacement that is under way for a slot, nil if there is none.
func (r *Resumption) lateOf(id proto.Proc) *late {
	for _, x := range r.late {
		if x.id == id {
			return x
		}
	}
	return nil
}

// writer is the process whose output is the last of a slot, and which gets the slot's input.
func (r *Resumption) writer(p *process) *process {
	if x := r.lateOf(p.id); x != nil && x.left.Follows {
		return x.process
	}
	return p
}

// forget ends a replacement that can't be under way any more. The others may not know of its death.
func (j *job) forget(x *late) {
	go func() {
		discard(x.Process)
		if x.left.Arrived {
			j.post(func() { j.tellLateDeath(x.left.Process) })
		}
	}()
}

// tellLateDeath tells all of the death of another launcher's replacement.
func (j *job) tellLateDeath(q recovery.Process) {
	j.tellOthers(nil, control.Message{Type: control.Death, Proc: q.Proc, Incarnation: q.Incarnation, Signal: int(unix.SIGKILL),
		Cause: "a replacement whose launcher was lost"})
}

// resumeAttempts goes on with the replacements that are under way: those that were found, and those
// that fill their slots, and that some processes may not know yet. Of those that were begun and are
// nowhere, all are told that they are dead: their hosts are lost, or they were never started.
func (j *job) resumeAttempts(r *Resumption) {
	if j.recovery == nil {
		return
	}
	for _, x := range r.late {
		j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
			m.Resume(now, x.left, out)
			j.recovery.replacements = append(j.recovery.replacements, &replacement{Attempt: m.AttemptAt(x.id), host: x.host, process: x.process})
		})
	}
	j.eachStanding(r, func(p *process, x *agent.Adopted) {
		if p == j.procs[p.id] && !p.known && p.incarnation > 0 && !said(x, control.Healed) {
			j.lead(func(m *recovery.Machine, now proto.Time, out *actions) {
				m.Resume(now, recovery.Left{Process: p.identity(), Donor: r.State.Slots[p.id].donor(), Committed: true}, out)
			})
		}
	})
	for id := range r.State.Slots {
		slot, p := &r.State.Slots[id], j.procs[id]
		if slot.Last > p.incarnation && p.known && r.lateOf(p.id) == nil {
			j.tellLateDeath(recovery.Process{Proc: p.id, Incarnation: slot.Last})
		}
	}
}
