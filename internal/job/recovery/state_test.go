package recovery

import (
	"encoding/binary"
	"slices"

	"banyan/internal/proto"
)

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	flags := func(is ...bool) {
		bits := byte(0)
		for i, x := range is {
			if x {
				bits |= 1 << i
			}
		}
		b = append(b, bits)
	}
	id := func(q Process) { b = append(b, byte(q.Proc), byte(q.Incarnation)) }
	marks := func(ms []mark) {
		b = append(b, byte(len(ms)))
		for _, m := range ms {
			id(m.donor)
			id(m.replacement)
		}
	}
	messages := func(ws []message) {
		b = append(b, byte(len(ws)))
		for _, m := range ws {
			b = append(b, byte(m.kind))
			id(m.replacement)
		}
	}
	flags(w.startFails, w.over)
	for p, x := range w.trials {
		flags(x.underWay, x.admitted, x.follows, x.dismissed, x.deathTold, w.joining[p] != nil)
		id(x.process)
	}
	b = append(b, byte(w.faults), byte(w.leaves), byte(w.leaders), byte(len(w.former)), byte(w.machine.most), byte(len(w.machine.attempts)))
	for _, a := range w.machine.attempts {
		b = append(b, byte(a.Phase), byte(a.blame))
		id(a.Process)
		id(a.Donor)
		flags(a.donorDied, a.follows, a.dismissed, a.asked, a.late != "")
		b = binary.AppendVarint(b, int64(a.deadline-w.now))
	}
	b = append(b, byte(len(w.machine.asked)))
	for _, p := range w.machine.asked {
		id(p.Process)
	}
	marks(w.machine.unanswered)
	marks(w.machine.held)
	marks(w.drains)
	marks(w.marks)
	for p, s := range w.machine.table {
		flags(s.vacant, s.canDonate, s.barred, s.proven > w.now, s.proven == proto.Never, s.leaving, s.retired, w.missing[p])
		b = append(b, byte(s.last), byte(s.incarnation), byte(s.failures), byte(w.last[p]), byte(w.failures[p]))
	}
	for _, p := range w.machine.waiting {
		b = append(b, byte(p))
	}
	b = append(b, 255)
	w.each(func(p *process) {
		id(p.Process)
		id(p.donor)
		id(p.donating)
		b = append(b, byte(p.stage))
		flags(p.alive, p.reaped, p.safe, p.barred, p.unproven, p.paused, p.marked, p.knowsDonor)
		flags(p.leaving, p.retired, p.hangs)
		messages(p.toLeader)
		messages(p.fromLeader)
		if w.leaders > 0 {
			messages(p.said)
		}
	})
	return b
}

// Clone implements explore.World. Clones share the messages of processes, which nothing overwrites.
func (w *world) Clone() *world {
	c := *w
	m := *w.machine
	m.table, m.waiting, m.unanswered, m.asked = slices.Clone(m.table), slices.Clone(m.waiting), slices.Clone(m.unanswered), slices.Clone(m.asked)
	m.held = slices.Clone(m.held)
	m.attempts = slices.Clone(m.attempts)
	for i, a := range m.attempts {
		m.attempts[i] = new(*a)
	}
	c.machine = &m
	clone := func(p *process) *process {
		if p == nil {
			return nil
		}
		q := *p
		return &q
	}
	c.bySlot, c.former, c.joining, c.trials = slices.Clone(w.bySlot), slices.Clone(w.former), slices.Clone(w.joining), slices.Clone(w.trials)
	for _, ps := range [][]*process{c.bySlot, c.former, c.joining} {
		for i, p := range ps {
			ps[i] = clone(p)
		}
	}
	c.last, c.failures, c.missing = slices.Clone(w.last), slices.Clone(w.failures), slices.Clone(w.missing)
	return &c
}
