package agreement

// closing is a barrier of the members that have closed the communicator, along the tree of those
// that are neither dead nor absent. When it is through, what any of them keeps is needed by
// nobody.
//
// A member that has forgotten the communicator, or never had anything to keep, says nothing by
// itself. So a member that may wait for such a child asks it, and the answer is KindAbsent.
type closing struct {
	absent    Set      // members at which the communicator isn't open
	near      position // in the tree without the absent, if there are any
	closers   Set      // those that have said that all at and below them have closed
	asked     Set      // those that this member has asked
	askers    Set      // and those that have asked it
	saidTo    int32    // the parent to which this member has said that it has closed, or -1
	keeps     bool     // there is something to keep, here or at others
	isClosed  bool
	forgotten bool
}

// Close says that the program has freed the communicator: this member enters no further agreement.
// What the machine keeps it keeps until all live members have closed; then it says Forget. That is
// at once if there is nothing to keep: no agreement was entered, and keep is false. The driver
// sets keep if it keeps something itself until Forget, such as a revocation.
func (m *Machine) Close(keep bool, out *Actions) {
	if m.isClosed {
		return
	}
	m.recycle()
	m.isClosed = true
	m.keeps = m.keeps || keep
	if !m.keeps && m.entered == 0 {
		m.leave(out)
		return
	}
	m.tryClose(out)
}

// closed takes a message about closing.
func (m *Machine) closed(from int, kind Kind, out *Actions) {
	if kind != KindAbsent && m.absent.Has(from) { // it has opened the communicator since
		m.absent = m.absent.Without(from)
		m.rearrangeClosing()
	}
	switch kind {
	case KindAsk:
		m.keeps, m.askers = true, m.askers.With(from)
	case KindHeld:
		m.keeps, m.closers = true, m.closers.With(from)
	case KindForget:
		if m.isClosed && m.decided == m.entered {
			m.leave(out)
			return
		}
	case KindAbsent:
		m.absent = m.absent.With(from)
		m.closers = m.closers.Without(from)
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

// tryClose says that all at and below this member have closed, once to each parent.
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
	if !m.closedBelow(p, out) {
		return
	}
	if p.parent < 0 {
		m.leave(out)
		return
	}
	m.saidTo = p.parent
	*out = append(*out, Action{Kind: Send, To: int(p.parent), Message: Message{Kind: KindHeld}})
}

// closedBelow tells whether all below this member have closed. It asks those children that
// may have forgotten the communicator: after a death or an absence, because they may have heard
// the end from another parent, and where no agreement has made all members keep something.
func (m *Machine) closedBelow(p *position, out *Actions) bool {
	all := true
	for _, c := range p.children {
		if m.closers.Has(int(c)) {
			continue
		}
		all = false
		if (m.entered == 0 || !m.dead.Empty() || !m.absent.Empty()) && !m.asked.Has(int(c)) {
			m.asked = m.asked.With(int(c))
			*out = append(*out, Action{Kind: Send, To: int(c), Message: Message{Kind: KindAsk}})
		}
	}
	return all
}

// leave ends the machine, and tells those that wait for this member.
func (m *Machine) leave(out *Actions) {
	m.forgotten = true
	for _, c := range m.closers.Union(m.askers).Minus(m.dead).AppendMembers(nil) {
		*out = append(*out, Action{Kind: Send, To: c, Message: Message{Kind: KindForget}})
	}
	*out = append(*out, Action{Kind: Forget})
}
