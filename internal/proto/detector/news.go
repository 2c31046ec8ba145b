package detector

import (
	"slices"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// broadcast tells all members that aren't known to be gone of those that are
// (the paper's T3, line 24): a copy along every tree.
func (m *Machine) broadcast(out *Actions) {
	b := Bulletin{View: m.cfg.View.Number, Incarnation: m.cfg.Incarnation, Source: m.cfg.Self, Gone: m.gone}
	m.shared = true
	cubes := topology.NewHypercubes(m.cfg.View.Ring.Len() - len(m.gone))
	for tree := range cubes.Trees() {
		for cube := range topology.Cubes {
			b.Cube, b.Tree = uint8(cube), uint8(tree)
			m.pass(cubes, b, 0, out)
		}
	}
	for i := range m.tellers {
		m.tellers[i] = m.cfg.Self
	}
	m.held, m.oweUntil = m.held[:0], proto.Never
}

// pass sends a bulletin on from this process, which has the given label in it. It sends nothing to
// processes known to be gone, because they can't pass it on.
func (m *Machine) pass(cubes topology.Hypercubes, b Bulletin, label int32, out *Actions) {
	var room [32]int32
	for _, l := range cubes.AppendChildren(room[:0], int(b.Cube), int(b.Tree), label) {
		if to := roll(b.Gone).proc(m.cfg.View.Ring, b.Source, l); m.gone.same(b.Gone) || m.live(to) {
			*out = append(*out, Action{Kind: SendNews, To: to, Bulletin: b})
		}
	}
}

// News takes a copy of a broadcast (task T5). The whole list counts, and
// the copy goes on to the processes that follow from its own list. The labels of another view's
// bulletin mean nothing here: its list counts, but isn't passed on.
func (m *Machine) News(now proto.Time, from proto.Proc, b Bulletin, out *Actions) {
	m.wake(now)
	known := m.gone.same(b.Gone)
	if !m.admits(now, from, b.View, b.Incarnation, out) || !known && m.isFenced(from, b.Gone, out) {
		return
	}
	if b.View != m.cfg.View.Number {
		m.take(now, from, b.Gone, out)
		return
	}
	ring, gone := m.cfg.View.Ring, roll(b.Gone)
	cubes := topology.NewHypercubes(max(ring.Len()-len(gone), 1))
	if b.Source == m.cfg.Self || ring.Position(b.Source) < 0 || b.Cube >= topology.Cubes || int(b.Tree) >= cubes.Trees() {
		return
	}
	if !known && !gone.valid(ring) {
		return
	}
	if _, ok := gone.find(ring, b.Source); ok {
		return
	}
	learned := !known && m.merge(gone, b.Source, out)
	m.hasTold(b.Source, gone)
	if _, ok := gone.find(ring, m.cfg.Self); !ok {
		b.Incarnation = m.cfg.Incarnation
		m.pass(cubes, b, gone.label(ring, b.Source, m.cfg.Self), out)
	}
	if learned {
		m.settle(now, out)
	}
}

// isFenced tells whether a list has this process itself among the dead, and
// reports that.
func (m *Machine) isFenced(from proto.Proc, list []Entry, out *Actions) bool {
	for i := range list {
		if e := &list[i]; e.Proc == m.cfg.Self && !e.Left && e.Incarnation >= m.cfg.Incarnation {
			m.Eviction(0, from, e.Incarnation, out)
			return true
		}
	}
	return false
}

// merge learns a valid list of this view. Where the list is all that is then known, it is
// kept as it is: so all machines of a simulation share one.
func (m *Machine) merge(list roll, by proto.Proc, out *Actions) (learned bool) {
	told := Report{Cause: CauseTold, By: by}
	if len(list) < len(m.gone) || !m.within(list) {
		for _, e := range list {
			if e.Proc != m.cfg.Self && m.learn(e, told, out) {
				learned = true
			}
		}
		return learned
	}
	tellers, hash, known := make([]proto.Proc, len(list)), uint64(0), 0
	for i, e := range list {
		hash += e.hash()
		tellers[i] = proto.NoProc
		if known < len(m.gone) && m.gone[known] == e {
			tellers[i] = m.tellers[known]
			known++
			continue
		}
		m.report(e, told, out)
		learned = true
	}
	m.gone, m.shared, m.tellers, m.hash = list, true, tellers, hash
	return learned
}

// within tells whether a valid list has every entry known here, and could be the list
// of this process.
func (m *Machine) within(list roll) bool {
	ring, known := m.cfg.View.Ring, 0
	for _, e := range list {
		if e.Proc == m.cfg.Self || e.Incarnation < m.cfg.View.incarnation(ring.Position(e.Proc)) {
			return false
		}
		if known < len(m.gone) && m.gone[known] == e {
			known++
		}
	}
	return known == len(m.gone)
}

// hasTold notes that a process told all members of a list, so that no other need do so
// unless it is its duty.
func (m *Machine) hasTold(by proto.Proc, list roll) {
	same := m.gone.same(list)
	for i, e := range list {
		if !same {
			var ok bool
			if i, ok = m.gone.find(m.cfg.View.Ring, e.Proc); !ok {
				continue
			}
		}
		if t := m.tellers[i]; t != by && t != m.cfg.Self && !m.hasLeft(t) {
			m.tellers[i] = by
		}
		if len(m.held) > 0 {
			m.held = slices.DeleteFunc(m.held, func(h holding) bool { return h.proc == e.Proc })
		}
	}
}

func (m *Machine) hasLeft(p proto.Proc) bool {
	if p == proto.NoProc {
		return false
	}
	e, gone := m.lookup(p)
	return gone && e.Left
}
