package agreement

// A member may leave while others go on: its program has come to its end, and enters nothing
// more. It isn't dead, it has taken nothing with it, and its machine still answers. So it takes
// part in each agreement that others enter, as one that gives nothing: the outcome counts it among
// Left and Missing, the same at all members.
//
// It doesn't know by itself what others enter: a report of a child says so, and a prompt of its
// parent. A member sends prompts when it has waited for long, so agreements without a member that
// has left have no message more.

// Leave says that the program enters no more agreements, although others may. It is not for a
// communicator that it has freed.
func (m *Machine) Leave(out *Actions) {
	if m.left || m.isClosed {
		return
	}
	m.recycle()
	m.left = true
	m.follow(out)
	m.proceed(out)
}

// Prompt asks the children that haven't reported to do so, if they have left, and the root to say
// so if it will never open the communicator. The driver calls it when the program has waited for
// long, and again as long as it waits: children may leave, or be others after a death.
func (m *Machine) Prompt(out *Actions) {
	if m.forgotten {
		return
	}
	if m.decided == m.entered {
		return
	}
	prompt := Message{Kind: KindPrompt, Number: m.entered, Root: m.root}
	if int(m.root) != m.cfg.Self && (m.root != m.parent || m.next <= m.entered) { // a report asks the parent
		*out = append(*out, Action{Kind: Send, To: int(m.root), Message: prompt})
	}
	for j, r := range m.at(m.entered).reports { // it comes last
		if !r.here {
			*out = append(*out, Action{Kind: Send, To: int(m.children[j]), Message: prompt})
		}
	}
}

// want notes that another member has entered an agreement.
func (m *Machine) want(number uint64, out *Actions) {
	if number > m.wanted && number > m.stable && number-m.stable <= MaxInFlight {
		m.wanted = number
		m.follow(out)
	}
}

// follow has a member that has left take part in what others have entered.
func (m *Machine) follow(out *Actions) {
	if !m.left || m.forgotten || m.entered >= m.wanted {
		return
	}
	for m.entered < m.wanted {
		m.entered++
		i := m.at(m.entered)
		i.entered = true
		self := Set(nil).With(m.cfg.Self)
		i.own.put(&Value{Flags: ^uint64(0), Missing: self, Left: self, Acknowledged: m.everyone()})
		m.offer(m.entered, i, out)
	}
	m.Prompt(out)
	m.exchange(out)
}

// everyone is the set of all members.
func (m *Machine) everyone() Set {
	n := len(m.index)
	all := make(Set, (n+63)/64)
	for i := range all {
		all[i] = ^uint64(0)
	}
	if n%64 != 0 {
		all[len(all)-1] = 1<<(n%64) - 1
	}
	return all
}

// gives tells whether a member has contributed to the value.
func (v *Value) gives() bool { return ^v.Flags != 0 || len(v.Payload) > 0 }

// add adds what others have contributed. Their payload comes later in the order of the members.
func (m *Machine) add(number uint64, v, w *Value) {
	v.Missing, v.Failed, v.Left = v.Missing.Union(w.Missing), v.Failed.Union(w.Failed), v.Left.Union(w.Left)
	if m.cfg.Combine != nil && w.gives() {
		if v.gives() {
			v.Payload = m.cfg.Combine(number, v.Payload, w.Payload)
		} else {
			v.Payload = append(v.Payload[:0], w.Payload...)
		}
	}
	v.Flags &= w.Flags
	v.Acknowledged = v.Acknowledged.Intersection(w.Acknowledged)
}
