package membership

import (
	"math/bits"
	"slices"
)

// This file is what rules.reduced leaves out of a world; see world.

// lazy says that a process is told of a death only when that makes a difference.
func (w *world) lazy() bool { return w.rules.reduced && w.deathsOnly() }

func (w *world) deathsOnly() bool { return w.rules.deathsOnly() }

func (r rules) deathsOnly() bool {
	return !r.divided() && len(r.leavers)+len(r.joiners)+r.changes == 0
}

// orders says whether a message is the order of a coordinator that q might have been told is
// dead. q wouldn't obey the message after that.
func (w *world) orders(x *Message, q int) bool {
	if x.Kind != Collect && x.Kind != Propose || x.Base.Number < w.machines[q].view.Number {
		return false
	}
	c := w.index(x.Base.Members[x.Ballot.Position])
	return w.ended(c) && w.told[q][c] == nothing
}

// tells appends the news of deaths that have an effect. They go to a coordinator, or to a
// process that becomes one by them. They concern all members senior to it and some of the
// others.
func (w *world) tells(dst []event) []event {
	for p, m := range w.machines {
		if w.states[p] != living {
			continue
		}
		var seniors, juniors uint32
		waits, position := false, m.view.Position(w.members[p])
		for i, x := range m.view.Members {
			q := w.index(x)
			switch known := w.told[p][q] != nothing; {
			case q == p || known:
			case !w.ended(q):
				waits = waits || i < position
			case i < position:
				seniors |= 1 << q
			default:
				juniors |= 1 << q
			}
		}
		switch {
		case waits:
		case seniors == 0:
			for q := range w.machines {
				if juniors>>q&1 == 1 {
					dst = append(dst, w.tell(p, q, 0))
				}
			}
		default:
			last := bits.Len32(seniors) - 1
			seniors &^= 1 << last
			for some := juniors; ; some = (some - 1) & juniors {
				dst = append(dst, w.tell(p, last, seniors|some))
				if some == 0 {
					break
				}
			}
		}
	}
	return dst
}

func (w *world) tell(p, q int, first uint32) event {
	if w.rules.why == Silent {
		return event{kind: 's', p: p, q: q, first: first}
	}
	return event{kind: 't', p: p, q: q, first: first}
}

// rest appends a word that is left when no other event is. It must have no effect.
func (w *world) rest(dst []event) []event {
	for p, m := range w.machines {
		for q := range w.machines {
			if w.states[p] == living && w.ended(q) && w.told[p][q] == nothing && m.view.Has(w.members[q]) {
				return append(dst, w.tell(p, q, 0))
			}
		}
	}
	return dst
}

// deaths appends the ways in which a process may die next.
func (w *world) deaths(dst []event) []event {
	for p := range w.machines {
		if w.states[p] != living || !w.mayDie(p) || w.rules.reduced && w.begun {
			continue
		}
		for k := range w.droppable(p) + 1 {
			dst = append(dst, event{kind: 'c', p: p, q: k})
		}
	}
	if !w.rules.reduced {
		return dst
	}
	for _, e := range dst[:len(dst):len(dst)] {
		p := e.actor()
		if p < 0 || !w.mayDie(p) {
			continue
		}
		// The step is tried, to see its sends.
		var out Actions
		w.act(e, clone(w.machines[p]), &out)
		sends, installs := 0, false
		for _, a := range out {
			if installs = installs || a.Kind == Install; a.Kind != Send {
				continue
			}
			if sends++; w.states[w.index(a.To)] == living {
				dst = append(dst, withDeath(e, sends))
			}
		}
		if installs {
			dst = append(dst, withDeath(e, 0))
		}
	}
	return dst
}

func withDeath(e event, after int) event {
	e.dies, e.after = true, after
	return e
}

func (w *world) mayDie(p int) bool {
	return w.rules.mayDie == nil || slices.Contains(w.rules.mayDie, p)
}

// idle says that a message to q won't have an effect, whenever it comes.
func (w *world) idle(x *Message, q int) bool {
	m := w.machines[q]
	if !w.deathsOnly() || m.view.Excludes(x.From) {
		return false
	}
	switch x.Kind {
	case Commit, Current, Reject:
		return x.Number <= m.view.Number
	case Ack, Report:
		return x.Number <= m.view.Number || x.Number == m.view.Number+1 && x.Ballot.Less(m.round.ballot)
	}
	return false
}

// knows says that p needn't be told of q's death, because its view excludes q.
func (w *world) knows(p, q int) bool {
	v := w.machines[p].View()
	return w.rules.reduced && v != nil && v.Excludes(w.members[q])
}
