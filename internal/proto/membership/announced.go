package membership

import "slices"

// This file is replacements that are announced before a view has them.
//
// If all other members are gone for certain, those that are left may decide, however few they are
// (View.Quorum). That isn't enough when a process is about to join: the dead may have let it in
// while they held these members for silent. Then it lives in a later view, without them. So a
// coordinator that has no majority asks each announced process first (Claim). One that is in no
// view pledges to take none without the coordinator (Pledge). One that is in a view answers with
// it, or with an eviction notice.
type announced struct {
	Member
	claimed bool // it was asked, and hasn't asked to be let in since
	pledged bool // it is in no view, and takes none without this process
}

// Announce says that a process may ask to be let in, here or elsewhere. It has to be said before
// the deaths of those that may let it in.
func (m *Machine) Announce(x Member) {
	if m.over || x == m.cfg.Self || m.announced(x) != nil || m.view != nil && (m.view.Has(x) || m.view.Excludes(x)) {
		return
	}
	m.expected = append(m.expected, announced{Member: x})
}

func (m *Machine) announced(x Member) *announced {
	for i := range m.expected {
		if m.expected[i].Member == x {
			return &m.expected[i]
		}
	}
	return nil
}

// settled asks the announced processes, if this coordinator's members are no majority. It says
// whether none of them can be in another view.
func (m *Machine) settled(skip []Departure, out *Actions) bool {
	if m.view.majority(skip) {
		return true
	}
	settled := true
	for i := range m.expected {
		x := &m.expected[i]
		if g := departed(m.gone, x.Member); x.pledged || g >= 0 && m.gone[g].Why != Silent || m.cfg.bugs.ignoresAnnounced {
			continue
		}
		settled = false
		if !x.claimed {
			x.claimed = true
			m.send(x.Member, &Message{Kind: Claim, Number: m.view.Number}, out)
		}
	}
	return settled
}

// claimed answers a coordinator that wants to go on without a majority. A process keeps its pledge
// until it takes a view, or the coordinator is gone for certain. Another one waits until then.
func (m *Machine) claimed(x *Message, out *Actions) {
	d := &m.joiner
	switch {
	case m.view != nil:
		m.bringUp(x.From, out)
		return
	case d.pledged && d.pledge != x.From && !m.certainlyGone(d.pledge):
		if !slices.Contains(d.claims, x.From) {
			d.claims = append(d.claims, x.From)
		}
		return
	}
	m.pledge(x.From, out)
}

func (m *Machine) pledge(to Member, out *Actions) {
	d := &m.joiner
	d.pledge, d.pledged = to, true
	d.claims = slices.DeleteFunc(d.claims, func(x Member) bool { return x == to })
	m.send(to, &Message{Kind: Pledge}, out)
}

// pledgeAnew answers a coordinator that had to wait for the end of another one, which had the
// pledge. It asks only once.
func (m *Machine) pledgeAnew(out *Actions) {
	d := &m.joiner
	if m.view != nil || len(d.claims) == 0 || !m.certainlyGone(d.pledge) {
		return
	}
	if i := slices.IndexFunc(d.claims, func(x Member) bool { return !m.certainlyGone(x) }); i >= 0 {
		m.pledge(d.claims[i], out)
	}
}

// certainlyGone says whether a process is known to be gone for certain.
func (m *Machine) certainlyGone(x Member) bool {
	i := departed(m.gone, x)
	return i >= 0 && m.gone[i].Why != Silent
}

// pledged takes an announced process's pledge. It wants to be let in.
func (m *Machine) pledged(x *Message, out *Actions) {
	if a := m.announced(x.From); a != nil && a.claimed {
		a.pledged = true
		m.admit(x, out)
	}
}

// wakes notes that a process asks to be let in: it can answer now, if it couldn't before.
func (m *Machine) wakes(x Member) {
	if a := m.announced(x); a != nil {
		a.claimed = a.pledged
	}
}

// asks says whether this process has asked an announced one, which isn't a member.
func (m *Machine) asks(x Member) bool {
	a := m.announced(x)
	return a != nil && a.claimed
}

// mayTake says whether this process may take a view as its first.
func (m *Machine) mayTake(v *View) bool {
	d := &m.joiner
	if m.view != nil || !d.pledged || v.Has(d.pledge) {
		return true
	}
	return m.certainlyGone(d.pledge)
}

// forgetSettled drops those about which the view in force says enough.
func (m *Machine) forgetSettled() {
	m.expected = slices.DeleteFunc(m.expected, func(x announced) bool { return m.view.Has(x.Member) || m.view.Excludes(x.Member) })
}
