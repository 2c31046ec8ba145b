package steward

import (
	"slices"

	"banyan/internal/proto"
)

// takeOver makes this agent the steward of a term that it has won. It acts once the term has begun.
func (a *Agent) takeOver(now proto.Time, term uint64, l *Ledger) {
	a.steward = newWriting(now, term, l)
	a.write(now)
}

// stepDown ends this agent's term.
func (a *Agent) stepDown() {
	if a.steward.begun {
		a.do(Action{Kind: StepDown})
	}
	a.steward = nil
}

// Leads says whether this agent is the acting steward.
func (a *Agent) Leads() bool { return a.steward != nil && a.steward.begun }

// Ledger is what the acting steward works with, and nil elsewhere. Its end may not be durable yet.
func (a *Agent) Ledger() *Ledger {
	if !a.Leads() {
		return nil
	}
	return a.steward.now()
}

// write sends voters what they haven't written: the last version, or, to a witness, the last one on
// which it votes.
func (a *Agent) write(now proto.Time) {
	s := a.steward
	number := s.ballot()
	s.version(s.latest).Electorate.each(func(v Voter) {
		n := s.latest
		if v.Witness {
			if n = number; !s.votes(n) || !s.known(n) {
				return
			}
		}
		if s.confirmed(v, n) {
			return
		}
		l := s.version(n)
		m := &Message{Kind: Write, From: a.cfg.Self, Term: s.term, At: Version{s.term, n}, ID: l.ID, Electorate: &l.Electorate, Ledger: l}
		switch {
		case a.steward != s: // this agent's own voter has refused
		case v.Host == a.cfg.Self:
			if a.voter.write(now, m).Kind == Refuse {
				a.stepDown() // it has promised a later term to another candidate
				return
			}
			a.learn(a.voter.accepted)
			s.confirm(v.Host, n)
		case v.Witness:
			m.Ledger = nil
			a.send(v.Host, m)
		default:
			a.send(v.Host, m)
		}
	})
	if a.steward == s {
		a.settle(now)
	}
}

// wrote takes a voter's confirmation.
func (a *Agent) wrote(now proto.Time, m *Message) {
	if s := a.steward; s != nil && m.At.Term == s.term && m.At.Number <= s.latest {
		withheld := !s.known(s.ballot())
		s.confirm(m.From, m.At.Number)
		if withheld && s.known(s.ballot()) {
			a.write(now) // it is the witness's turn
		} else {
			a.settle(now)
		}
	}
}

// settle carries out what waited for a version that is durable now.
func (a *Agent) settle(now proto.Time) {
	s := a.steward
	begun := s.begun
	if !s.settle() {
		return
	}
	l := s.version(s.durable)
	if !begun && l.Outcome.Reason == NotOver { // else nobody goes on: the steward before was gone at once
		a.do(Action{Kind: Lead, Ledger: l})
		for _, p := range l.Places {
			if p.State == Starting {
				a.start(p)
			}
		}
	}
	for _, x := range s.due() {
		a.do(x)
	}
	if l.Outcome.Reason != NotOver {
		a.end(l.Outcome)
	}
}

// elect changes the electorate if others should vote, or ends such a change. Voters of another
// electorate count the age of each lease anew. So if several hosts are silent it waits for the
// verdicts on all of them, or until it has waited long enough for those that only this voter
// can't hear. It asks for the consent of those only that it has heard: voters that take part in a
// change which never ends get no leases any more, though they were a quorum before. If they fall
// silent before the change is durable it takes the change back, and also if the witness can't be
// told of it for so long that a host that could go on without it must be dead: no verdict is
// possible in the middle of a change.
func (a *Agent) elect(now proto.Time) {
	s := a.steward
	if !s.settled() && s.now().Electorate.Changing() {
		withheld := s.begun && !s.known(s.latest) && now-s.electedAt > a.cfg.Lease+a.cfg.Margin
		if withheld {
			s.electFrom = now + a.cfg.Lease + a.cfg.Margin + 2*a.cfg.Renew
		}
		if withheld || !majority(s.now().Electorate.Voters, func(v Voter) bool { return a.hears(now, v.Host) }) {
			s.revoke(now)
			return
		}
	}
	if !s.review || !s.settled() || now < s.electFrom && !s.now().Electorate.Changing() {
		return
	}
	if s.silent > 0 && !s.now().Electorate.Changing() {
		s.electBy = min(s.electBy, now+a.cfg.Lease+a.cfg.Margin+2*a.cfg.Renew)
		if now < s.electBy {
			return
		}
	}
	e := &s.now().Electorate
	if e.Changing() {
		s.review, s.electBy = false, proto.Never
		s.change(now).Electorate = Electorate{Voters: e.Voters}
		return
	}
	voters := s.now().Elect(a.cfg.voters())
	if len(voters) == 0 || slices.Equal(voters, e.Voters) {
		s.review, s.electBy = false, proto.Never
		return
	}
	if majority(voters, func(v Voter) bool { return a.hears(now, v.Host) }) {
		former := e.Voters
		s.change(now).Electorate = Electorate{Voters: voters, Former: former}
		s.review, s.electBy = false, proto.Never
	}
}

// hears says whether the steward has heard of a party in this term, and lately. All parties but
// witnesses ask for leases, also those that don't vote.
func (a *Agent) hears(now proto.Time, h Host) bool {
	if h == a.cfg.Self {
		return true
	}
	at, ok := a.voter.heard(h)
	return ok && at >= a.steward.since && now-at < a.cfg.Patience
}

// flush writes the draft, if it is time.
func (a *Agent) flush(now proto.Time) {
	for s := a.steward; s != nil && s.begun && !a.over; s = a.steward {
		if a.elect(now); s.draft != nil && now >= s.flushAt {
			s.flush(now)
			a.write(now)
			continue
		}
		if s.settled() && !s.now().Electorate.Includes(a.cfg.Self) {
			a.stepDown() // another agent must lead
		}
		return
	}
}

// judge looks for agents that a quorum has granted nothing for too long.
func (a *Agent) judge(now proto.Time, q *question) {
	s := a.steward
	if !s.begun || q.electorate.Changing() || q.electorate.Since != s.now().Electorate.Since {
		return
	}
	for i, x := range q.about {
		if s.now().up(x.host, x.incarnation) && q.quiet(i, a.cfg.Lease+a.cfg.Margin, a.cfg.Renew) {
			a.lose(now, x.host)
			s.silent--
		}
	}
}

// lose notes that the present incarnation of a host is over.
func (a *Agent) lose(now proto.Time, h Host) {
	l := a.steward.change(now)
	l.lose(h)
	a.steward.electFrom = now
	a.steward.after(Action{Kind: HostLost, Host: h, Incarnation: l.Entry(h).Incarnation})
}

// start tells a process's host to start it.
func (a *Agent) start(p Place) {
	a.send(p.Host, &Message{Kind: Start, Term: a.steward.term, Incarnation: p.HostIncarnation, Place: p})
}

// repeat sends again what may have been lost.
func (a *Agent) repeat(now proto.Time) {
	if a.write(now); !a.Leads() {
		return
	}
	for _, p := range a.steward.version(a.steward.durable).Places {
		if p.State == Starting && a.steward.now().up(p.Host, p.HostIncarnation) {
			a.start(p)
		}
	}
}

// report takes an agent's word about a process, and notes it in the ledger.
func (a *Agent) report(now proto.Time, m *Message) {
	s := a.steward
	if !a.Leads() || int(m.Place.Proc) >= len(s.now().Places) {
		return
	}
	p, said := s.now().Places[m.Place.Proc], m.Place
	if p.same(said) && p.Host == m.From && p.HostIncarnation == m.Incarnation && p.State < said.State {
		l := s.change(now + a.cfg.Gather)
		l.Places[p.Proc].State, l.Places[p.Proc].How = said.State, said.How
	}
	s.after(Action{Kind: Send, To: m.From, Message: &Message{Kind: Noted, From: a.cfg.Self, Term: s.term, Incarnation: m.Incarnation, Place: said}})
	a.deliver()
}

// deliver carries out what waits for nothing any more.
func (a *Agent) deliver() {
	for _, x := range a.steward.due() {
		a.do(x)
	}
}

// join takes an agent into the ledger. If it was there in an earlier incarnation, that one is over:
// its own agent says so. An agent joins when it holds a lease, and its processes act only when it
// is welcome. So what is said about it from here on is about an incarnation that has had a lease:
// one that never had any could get it by an old question, after a verdict.
func (a *Agent) join(now proto.Time, m *Message) {
	s := a.steward
	if !a.Leads() {
		return
	}
	welcome := Action{Kind: Send, To: m.From, Message: &Message{Kind: Welcome, From: a.cfg.Self, Term: s.term, Incarnation: m.Incarnation}}
	x := s.now().Entry(m.From)
	switch {
	case x != nil && m.Incarnation < x.Incarnation || x != nil && x.State == Left:
		return
	case x == nil || m.Incarnation > x.Incarnation:
		if x != nil && (x.State == Up || x.State == Draining) {
			a.lose(now, m.From)
		}
		s.change(now).admit(m.From, m.Incarnation, m.Domain)
		s.after(Action{Kind: HostUp, Host: m.From, Incarnation: m.Incarnation})
	case x.State == Lost:
		welcome.Message.Incarnation++ // this one can't come any more
	}
	for i := range a.lease.questions {
		a.lease.questions[i].forget(m.From)
	}
	s.after(welcome)
	a.deliver()
}

// Start has the acting steward start a process, in its next incarnation, on a host that is up. The
// last incarnation must have ended. It returns false if that isn't so.
func (a *Agent) Start(now proto.Time, p proto.Proc, on Host, out *[]Action) bool {
	a.at(now, out)
	if !a.Leads() || int(p) >= len(a.steward.now().Places) {
		return false
	}
	x, last := a.steward.now().Entry(on), a.steward.now().Places[p]
	if x == nil || x.State != Up || last.State != Ended || a.steward.now().Outcome.Reason != NotOver {
		return false
	}
	next := Place{Proc: p, Incarnation: last.Incarnation + 1, Host: on, HostIncarnation: x.Incarnation}
	s := a.steward
	s.change(now + a.cfg.Gather).Places[p] = next
	s.after(Action{Kind: Send, To: on, Message: &Message{Kind: Start, From: a.cfg.Self, Term: s.term, Incarnation: x.Incarnation, Place: next}})
	a.flush(now)
	return true
}

// Drain has the acting steward start nothing on a host any more. The host leaves when nothing runs
// there, its driver holds nothing (Hold), and it doesn't vote any more: so the last host never
// leaves.
func (a *Agent) Drain(now proto.Time, h Host, out *[]Action) {
	a.at(now, out)
	if !a.Leads() {
		return
	}
	if x := a.steward.now().Entry(h); x != nil && x.State == Up {
		x = a.steward.change(now).Entry(h)
		x.State, x.Leaves = Draining, true
		a.flush(now)
	}
}

// release lets a drained host go whose agent says that it holds nothing that others need.
func (a *Agent) release(now proto.Time, m *Message) {
	if !a.Leads() || m.Holds {
		return
	}
	if x := a.steward.now().Entry(m.From); x != nil && x.Incarnation == m.Incarnation && a.steward.now().mayLeave(x) {
		a.steward.change(now).Entry(m.From).State = Left
		a.steward.after(Action{Kind: HostLeft, Host: m.From, Incarnation: m.Incarnation})
	}
}

// Keep has the acting steward write a state into the ledger, in place of the one before. The action
// Kept, with this number, says that it is durable. It returns false if this agent doesn't lead.
func (a *Agent) Keep(now proto.Time, state []byte, number uint64, out *[]Action) bool {
	a.at(now, out)
	if !a.Leads() {
		return false
	}
	a.steward.change(now).State = state
	a.steward.after(Action{Kind: Kept, Number: number})
	a.flush(now)
	return true
}

// Finish has the acting steward end the job.
func (a *Agent) Finish(now proto.Time, code int32, out *[]Action) {
	a.at(now, out)
	if !a.Leads() || a.steward.now().Outcome.Reason != NotOver {
		return
	}
	a.steward.change(now).Outcome = Outcome{Reason: Finished, Code: code}
	a.flush(now)
}
