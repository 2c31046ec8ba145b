package membership

import (
	"fmt"
	"slices"
)

// viewID replaces the text of a view in a state's key.
type viewID uint16

var (
	identities = map[string]viewID{}
	texts      = []string{"-"}
	identified = map[*View]viewID{}
)

func identify(v *View) viewID {
	if v == nil {
		return 0
	}
	id, ok := identified[v]
	if !ok {
		s := fmt.Sprintf("view %d %v +%v -%v past %v", v.Number, v.Members, v.Joined, v.Gone, v.Past)
		for _, d := range v.Metadata {
			s += fmt.Sprintf(" %v:%d", d.Member, d.Version)
		}
		if id, ok = identities[s]; !ok {
			id = viewID(len(texts))
			identities[s], texts = id, append(texts, s)
		}
		if len(identified) > 1<<16 {
			clear(identified) // or nothing that was ever made could be forgotten
		}
		identified[v] = id
	}
	return id
}

func show(v *View) string { return texts[identify(v)] }

func (w *world) AppendKey(dst []byte) []byte {
	slowest := ^uint64(0)
	for p, m := range w.machines {
		dst = append(dst, '|', byte(w.states[p]))
		if w.states[p] != living {
			dst = append(dst, byte(b2i(m != nil && m.leaving)))
			if w.states[p] == unborn {
				slowest = 0
			}
			continue
		}
		slowest = min(slowest, w.at[p])
		dst = appendMachine(dst, m)
		if w.rules.asks > 0 {
			dst = w.appendLeases(dst, m)
		}
		for q, x := range w.told[p] {
			if w.knows(p, q) {
				x = nothing
			}
			dst = append(dst, byte(x))
		}
	}
	for p := range w.machines {
		for q := range w.machines {
			for _, x := range w.network.Queue(p, q) {
				dst = append(dst, '>', byte(p), byte(q))
				dst = describe(dst, x)
			}
		}
		if w.states[p] == living && w.crashes > 0 && !w.rules.reduced {
			dst = append(dst, '<')
			for _, q := range w.last[p][len(w.last[p])-w.droppable(p):] {
				dst = append(dst, byte(q))
			}
		}
	}
	if w.rules.asks > 0 {
		dst = w.leasing.append(dst, w.now, w.at)
	}
	return append(w.appendHistory(dst, slowest), byte(w.crashes), byte(w.lies), byte(b2i(w.cut)), byte(b2i(w.healed)), byte(b2i(w.begun)), byte(w.retries))
}

// appendHistory appends the installed views whose numbers some process may still install: the
// others won't be compared again.
func (w *world) appendHistory(dst []byte, slowest uint64) []byte {
	if !w.rules.reduced {
		slowest = 0
	}
	for n := slowest + 1; n < 1<<16; n++ {
		some := viewID(0)
		for p := range w.views {
			if w.states[p] != living && w.divided() {
				continue
			}
			if v := w.had(p, n); v != 0 && (v != some || w.divided()) {
				some = v
				dst = appendID(append(dst, '=', byte(n)), v)
				if w.divided() {
					dst = append(dst, byte(p))
				}
			}
		}
		if some == 0 && n > w.highest() {
			break
		}
	}
	return dst
}

func (w *world) highest() uint64 { return slices.Max(w.at) }

func appendID(dst []byte, id viewID) []byte { return append(dst, byte(id), byte(id>>8)) }

func appendMachine(dst []byte, m *Machine) []byte {
	r, l := &m.round, &m.lead
	for _, v := range []*View{m.view, m.proposal, r.view, l.adopted} {
		dst = appendID(dst, identify(v))
	}
	dst = appendDepartures(dst, m.gone, r.certain, l.skip)
	dst = appendMembers(dst, m.joins, m.leaves, r.awaiting, []Member{m.asker, r.parent, m.joiner.asked})
	dst = appendBallots(dst, m.promised, m.accepted, r.ballot, r.best, m.leftRound)
	dst = append(dst, byte(r.kind), byte(l.takeover), byte(l.attempt), byte(m.joiner.next))
	dst = append(dst, byte(len(m.expected)))
	for _, x := range m.expected {
		dst = appendMembers(append(dst, byte(b2i(x.claimed)), byte(b2i(x.pledged))), []Member{x.Member})
	}
	dst = appendMembers(dst, []Member{m.joiner.pledge}, m.joiner.claims)
	dst = append(dst, byte(m.own.Version), byte(len(m.updates)))
	for _, d := range m.updates {
		dst = append(dst, byte(d.Proc), byte(d.Incarnation), byte(d.Version))
	}
	for _, f := range []bool{m.joiner.pledged, m.leaving, r.root, l.collected, l.busy, l.stalled, m.asked, m.hasLeft} {
		dst = append(dst, byte(b2i(f)))
	}
	return dst
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func appendDepartures(dst []byte, lists ...[]Departure) []byte {
	for _, l := range lists {
		dst = append(dst, byte(len(l)))
		for _, d := range l {
			dst = append(dst, byte(d.Proc), byte(d.Incarnation), byte(d.Why))
		}
	}
	return dst
}

func appendMembers(dst []byte, lists ...[]Member) []byte {
	for _, l := range lists {
		dst = append(dst, byte(len(l)))
		for _, m := range l {
			dst = append(dst, byte(m.Proc), byte(m.Incarnation))
		}
	}
	return dst
}

func appendBallots(dst []byte, ballots ...Ballot) []byte {
	for _, b := range ballots {
		dst = append(dst, byte(b.Takeover), byte(b.Position), byte(b.Attempt))
	}
	return dst
}

func describe(dst []byte, x *Message) []byte {
	dst = append(dst, byte(x.Kind), byte(x.Number))
	dst = appendBallots(dst, x.Ballot, x.Accepted)
	dst = appendID(appendID(dst, identify(x.Base)), identify(x.View))
	dst = appendDepartures(dst, x.Skip, x.Gone)
	return append(appendMembers(dst, []Member{x.Member}), byte(x.Metadata.Version))
}
