package steward

// bug names a mistake that could be made; "" is none. Its hooks stand between the world and the
// machines.
type bug string

const (
	// An agent's processes act on when its lease is over.
	leaseForgotten bug = "lease forgotten"
	// An agent obeys the steward of an old term.
	oldTermObeyed bug = "old term obeyed"
	// A lease runs from when the answer came.
	leaseFromAnswer bug = "lease from the answer"
	// An agent counts as lost when its lease must be over by the steward's own clock.
	noMargin bug = "no margin"
	// A steward takes its own silence for everybody's, though it may have no lease itself.
	ownSilence bug = "own silence"
	// A voter forgets what it has promised.
	promiseForgotten bug = "promise forgotten"
	// A steward acts on what isn't durable.
	notDurable bug = "not durable"
)

// message is what an agent receives in place of a message.
func (b bug) message(n *node, m *Message) *Message {
	if b == oldTermObeyed && m.Kind == Start {
		x := *m
		x.Term = max(m.Term, n.agent.term)
		return &x
	}
	return m
}

// after runs after each call of an agent's machine.
func (b bug) after(w *world, n *node, out *[]Action) {
	a := n.agent
	switch b {
	case leaseForgotten:
		for i := range *out {
			if x := &(*out)[i]; x.Kind == Extend {
				x.Until = maxSpan
			} else if x.Kind == Kill && !a.over {
				x.Kind = HostUp + 100
			}
		}
	case leaseFromAnswer:
		for i := range *out {
			if x := &(*out)[i]; x.Kind == Extend {
				a.lease.until = n.clock(w.now) + a.cfg.Lease
				x.Until = a.lease.until
			}
		}
	case ownSilence:
		if !a.Leads() {
			return
		}
		now := n.clock(w.now)
		for _, x := range a.steward.now().Hosts {
			if x.State == Up && x.Host != n.host && a.voter.age(now, x.Host) >= a.cfg.Lease+a.cfg.Margin {
				a.out = out
				a.lose(now, x.Host)
				a.flush(now)
			}
		}
	case promiseForgotten:
		a.voter.promised = 0
	case notDurable:
		if a.Leads() {
			for _, x := range a.steward.waiting {
				*out = append(*out, x.action)
			}
			a.steward.waiting = nil
		}
	}
}
