package detector

import (
	"slices"

	"banyan/internal/proto"
)

// Install makes a view the base list from now on: membership has agreed on it. An
// older one is ignored. Processes that are gone and aren't members of the new view in that
// incarnation are forgotten. A member whose incarnation is higher than the one that died
// is live, and its former incarnation is reported as dead if that isn't known yet. A member that
// is new in the view, and has been heard to be gone already, is reported now.
//
// Others install the view earlier or later. Until they do, two processes may wait for this
// one's heartbeats: its observer by the old ring and its observer by the new one. So the old
// observer gets them for 2δ more, as an extra observer, and a process of a newer view that has
// asked for them gets them until the view is installed here.
func (m *Machine) Install(now proto.Time, v *View, out *Actions) {
	m.wake(now)
	if v.Number <= m.cfg.View.Number {
		return
	}
	self := m.cfg.Self
	if at := v.Ring.Position(self); at < 0 || v.incarnation(at) > m.cfg.Incarnation {
		*out = append(*out, Action{Kind: ReportFenced, Report: Report{Proc: self, By: self}})
		return
	}
	before, emitter := m.cfg.View, m.emitter
	m.reportReplaced(v, out)
	m.cfg.View = v
	m.carryOver(before, out)
	for i := range m.extra {
		m.extra[i].until = min(m.extra[i].until, now+2*m.cfg.Timeout)
	}
	if m.observer != proto.NoProc {
		m.extra = append(m.extra, extraObserver{m.observer, now + 2*m.cfg.Timeout})
	}
	m.observer = m.clockwise(v.Ring.Next(self))
	m.emitter = m.counterclockwise(v.Ring.Prev(self))
	if e := m.emitter; e != proto.NoProc && (e != emitter || v.of(e) != before.of(e)) {
		m.observe(now, e)
		*out = append(*out, Action{Kind: SendObserve, To: e, Beat: m.stamp()})
	}
	m.settle(now, out)
}

// reportReplaced reports the members of the present view that the next one has in a
// higher incarnation.
func (m *Machine) reportReplaced(next *View, out *Actions) {
	for at, incarnation := range next.Incarnations {
		p := next.Ring.At(at)
		was := m.cfg.View.Ring.Position(p)
		if was >= 0 && incarnation > m.cfg.View.incarnation(was) && m.live(p) {
			m.report(Entry{Proc: p, Incarnation: incarnation - 1}, Report{Cause: CauseTold, By: m.cfg.Self}, out)
		}
	}
}

// carryOver sorts those gone by the new ring, and leaves out those that aren't members. A member
// that the view before didn't have in this incarnation may have died already: processes with a
// newer view have said so. Then it is reported now, because the layers above begin to count on it.
func (m *Machine) carryOver(before *View, out *Actions) {
	ring := m.cfg.View.Ring
	gone, tellers := make(roll, 0, len(m.gone)), make([]proto.Proc, 0, len(m.gone))
	m.hash = 0
	for i, e := range m.gone {
		at := ring.Position(e.Proc)
		if at < 0 || e.Incarnation < m.cfg.View.incarnation(at) {
			continue
		}
		j, _ := gone.find(ring, e.Proc)
		gone = slices.Insert(gone, j, e)
		tellers = slices.Insert(tellers, j, m.tellers[i])
		m.hash += e.hash()
		if m.cfg.View.incarnation(at) > before.of(e.Proc) {
			m.report(e, Report{Cause: CauseTold, By: m.cfg.Self}, out)
		}
	}
	m.gone, m.tellers, m.shared, m.doubt = gone, tellers, false, 0
	m.held = slices.DeleteFunc(m.held, func(h holding) bool { _, gone := m.lookup(h.proc); return !gone })
}
