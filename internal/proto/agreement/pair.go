package agreement

// Two members need no root: each sends its contribution to the other, and decides when it has
// both. What they decide is the same, since no contribution is missing. If one dies the other has
// its contribution, or does without. So an agreement takes the time of one message, not of two.

// pair tells whether this is one of two members, both of which are alive for all it knows.
func (m *Machine) pair() bool { return len(m.index) == 2 && m.dead.Empty() }

// offer sends the root's contribution to the other of two members.
func (m *Machine) offer(number uint64, i *instance, out *Actions) {
	if m.parent < 0 && m.pair() {
		m.offered = number
		*out = append(*out, Action{Kind: Send, To: 1 - m.cfg.Self, Message: Message{
			Kind: KindContribution, Number: number, Root: m.root, Decided: m.decided, Stable: m.stable, Value: i.own,
		}})
	}
}

// exchange decides at the other of two members, where it has both contributions.
func (m *Machine) exchange(out *Actions) {
	for m.parent >= 0 && m.pair() && m.decided < m.entered {
		number := m.decided + 1
		i := m.at(number)
		if !i.offer.here {
			return
		}
		v := i.offer.value
		v.Payload = append(i.value.Payload[:0], i.offer.value.Payload...)
		m.add(number, &v, &i.own)
		i.value.Payload = v.Payload
		stable := i.offer.decided // the other member has these, and so has this one
		m.accept(number, &v, stable, out)
		m.settle(stable)
	}
}
