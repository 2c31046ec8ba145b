package agreement

// closing is a barrier of the members that have closed the communicator, along the tree of those
// that are neither dead nor absent. When it is through, what any of them keeps is needed by
// nobody.
type closing struct {
	absent    Set      // members at which the communicator isn't open: forgotten there, or not made yet
	near      position // in the tree without the absent, if there are any
	closers   Set      // those that have said that all at and below them have closed
	saidTo    int32    // the parent to which this member has said so, or -1
	isClosed  bool
	forgotten bool
}

// Close says that the program has freed the communicator: this member enters no further agreement.
// What the machine keeps it keeps until all live members have closed; then it says Forget. That is
// at once if there is nothing to keep: every live member is known to have all decisions, and keep
// is false. The driver sets keep if it keeps something itself until Forget, such as a revocation.
func (m *Machine) Close(keep bool, out *Actions) {
	if m.isClosed {
		return
	}
	m.recycle()
	m.isClosed = true
	if !keep && m.stable == m.entered {
		m.leave(KindAbsent, out)
		return
	}
	m.tryClose(out)
}

// closed takes a message about closing.
func (m *Machine) closed(from int, kind Kind, out *Actions) {
	switch kind {
	case KindHeld:
		m.closers = m.closers.With(from)
		if m.absent.Has(from) {
			m.absent = m.absent.Minus(Set(nil).With(from))
			m.rearrangeClosing()
		}
	case KindForget:
		if m.isClosed && m.decided == m.entered {
			m.leave(KindForget, out)
			return
		}
	case KindAbsent:
		m.absent = m.absent.With(from)
		m.closers = m.closers.Minus(Set(nil).With(from))
		m.rearrangeClosing()
	}
	m.tryClose(out)
}

// rearrangeClosing computes the tree anew in which the members close.
func (m *Machine) rearrangeClosing() {
	if !m.absent.Empty() {
		m.near.arrange(&m.cfg.Tree, m.cfg.Self, m.dead.Union(m.absent))
	}
}

// tryClose says that all at and below this member have closed, once for each parent.
func (m *Machine) tryClose(out *Actions) {
	if !m.isClosed || m.forgotten || m.decided < m.entered {
		return
	}
	p := &m.position
	if !m.absent.Empty() {
		p = &m.near
	}
	if p.parent >= 0 && p.parent == m.saidTo {
		return
	}
	for _, c := range p.children {
		if !m.closers.Has(int(c)) {
			return
		}
	}
	if p.parent < 0 {
		m.leave(KindForget, out)
		return
	}
	m.saidTo = p.parent
	*out = append(*out, Action{Kind: Send, To: int(p.parent), Message: Message{Kind: KindHeld}})
}

// leave ends the machine, and tells those that have told this member that they have closed.
func (m *Machine) leave(kind Kind, out *Actions) {
	m.forgotten = true
	for _, c := range m.closers.Minus(m.dead).AppendMembers(nil) {
		*out = append(*out, Action{Kind: Send, To: c, Message: Message{Kind: kind}})
	}
	*out = append(*out, Action{Kind: Forget})
}
