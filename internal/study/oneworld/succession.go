package oneworld

import (
	"slices"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// keptSize is what the ledger has of a slot: the incarnation that fills it, the one whose output
// follows its donor's, and the donor.
const keptSize = 4

// state is what the next steward must know, and no agent tells.
func (d *lead) state() []byte {
	b := make([]byte, 0, keptSize*len(d.slots))
	for _, s := range d.slots {
		b = append(b, byte(s.filled), byte(s.followed), byte(s.donor.Proc), byte(s.donor.Incarnation))
	}
	return b
}

// durably calls f when the present state is durable.
func (d *lead) durably(f func()) {
	d.keeps++
	d.awaiting[d.keeps] = f
	var out []steward.Action
	d.h.agent.Keep(d.h.clock(), d.state(), d.keeps, &out)
	d.h.carryOut(out)
}

// kept takes the word that a state is durable.
func (d *lead) kept(number uint64) {
	if f := d.awaiting[number]; f != nil {
		delete(d.awaiting, number)
		f()
	}
}

// resume goes on where another steward was, as package launcher does (late.go): all are told again
// who was admitted, and then who is dead. A replacement that may have its donor's state goes on,
// one that doesn't is ended, and its end is waited for.
func (d *lead) resume(l *steward.Ledger) {
	begun := slices.Clone(l.Places)
	for i, p := range begun {
		s := &d.slots[i]
		s.last = p
		if b := l.State; len(b) == keptSize*len(begun) {
			b = b[keptSize*i:]
			s.filled, s.followed = proto.Incarnation(b[0]), proto.Incarnation(b[1])
			s.donor = recovery.Process{Proc: proto.Proc(b[2]), Incarnation: proto.Incarnation(b[3])}
		}
		s.unproven = p.Incarnation > s.filled
		if p.Incarnation > 0 && (!s.unproven || s.followed == p.Incarnation) {
			d.tellAll(tiding{kind: admit, proc: p.Proc, incarnation: p.Incarnation})
		}
	}
	for _, p := range begun {
		if p.Incarnation > 0 {
			d.tellAll(tiding{kind: died, proc: p.Proc, incarnation: p.Incarnation - 1})
		}
	}
	for i, p := range begun {
		if s := &d.slots[i]; p.Incarnation > 0 {
			d.do(func(now proto.Time, out *[]recovery.Action) { d.resumeSlot(now, s, out) })
		}
	}
}

// resumeSlot tells the recovery of a slot that isn't filled by its first process.
func (d *lead) resumeSlot(now proto.Time, s *slotState, out *[]recovery.Action) {
	filled := recovery.Process{Proc: s.last.Proc, Incarnation: s.filled}
	d.m.Filled(filled, out)
	x := recovery.Left{Process: recovery.Process{Proc: s.last.Proc, Incarnation: s.last.Incarnation}, Donor: s.donor,
		Arrived: true, Follows: s.followed == s.last.Incarnation, Committed: !s.unproven}
	if s.unproven {
		d.m.Reserve(s.last.Proc, s.last.Incarnation)
		d.m.Died(now, filled, "", out)
	}
	switch {
	case s.last.State == steward.Ended:
	case s.unproven && d.w.bug == LateForgotten:
		d.tellAll(tiding{kind: died, proc: x.Proc, incarnation: x.Incarnation})
		d.kill(x.Proc, x.Incarnation)
	default:
		d.m.Resume(now, x, out)
	}
}
