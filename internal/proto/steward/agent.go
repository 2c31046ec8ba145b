package steward

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Agent is the machine of one host's agent, or of a console on a machine of its own.
type Agent struct {
	cfg         Config
	voter       voter
	known       accepted // the last version of which this agent has heard; without its ledger
	term        uint64   // the latest of which it has heard, and its steward
	leader      Host
	lease       lease
	incarnation proto.Incarnation
	welcome     bool // the steward knows this incarnation, and that it has had a lease
	renewAt     proto.Time
	hinted      bool    // the steward may be gone
	own         []Place // the processes of this incarnation
	unnoted     []Place // what of them the steward has to be told
	refused     uint64  // some voter has promised this term
	campaign    *campaign
	steward     *writing // nil, unless this agent has won a term
	holds       bool     // its driver holds what others may need
	over        bool
	outcome     Outcome

	out *[]Action
}

// New makes the machine of an agent. A first ledger that has its host knows it in incarnation 0,
// and its processes Running. It panics if the Config isn't valid.
func New(now proto.Time, cfg Config, first *Ledger) *Agent {
	if err := cfg.Validate(); err != nil {
		panic("steward: " + err.Error())
	}
	a := &Agent{cfg: cfg, voter: newVoter(now, cfg.Self, false, first), renewAt: now}
	a.learn(a.voter.accepted)
	a.lease.lostAt = now
	for _, p := range first.Places {
		if p.Host == cfg.Self && p.State == Running {
			a.own = append(a.own, p)
		}
	}
	return a
}

// Open begins. It is called once, when messages can be sent.
func (a *Agent) Open(now proto.Time, out *[]Action) {
	a.at(now, out)
	if first := a.voter.accepted; first.steward == a.cfg.Self {
		a.takeOver(now, first.at.Term, first.ledger)
	}
	a.Tick(now, out)
}

// at begins a call: nothing happens before a lease that is over has ended.
func (a *Agent) at(now proto.Time, out *[]Action) {
	a.out = out
	if a.lease.held && now >= a.lease.until {
		a.expire(now)
	}
}

// expire ends this agent's incarnation, since its lease is over.
func (a *Agent) expire(now proto.Time) {
	a.lease.lost(now)
	a.do(Action{Kind: Kill})
	a.incarnation++
	a.welcome, a.own, a.unnoted, a.campaign = false, nil, nil, nil
	if a.steward != nil {
		a.stepDown()
	}
}

// Held says whether this agent has a lease.
func (a *Agent) Held() bool { return a.lease.held }

// Incarnation is how often this agent has lost its lease.
func (a *Agent) Incarnation() proto.Incarnation { return a.incarnation }

// Term is the last term of which this agent has heard, and its steward.
func (a *Agent) Term() (uint64, Host) { return a.term, a.leader }

// Outcome is why this agent is over, if it is.
func (a *Agent) Outcome() Outcome { return a.outcome }

// Deadline is when Tick must be called next, or Never.
func (a *Agent) Deadline() proto.Time {
	if a.over {
		return proto.Never
	}
	deadline := a.renewAt
	if a.lease.held {
		deadline = min(deadline, a.lease.until)
	} else {
		deadline = min(deadline, a.lease.lostAt+a.cfg.GiveUp)
	}
	if a.campaign != nil {
		deadline = min(deadline, a.campaign.until)
	}
	if a.Leads() {
		deadline = min(deadline, a.steward.flushAt)
	}
	return deadline
}

// Tick lets time pass.
func (a *Agent) Tick(now proto.Time, out *[]Action) {
	a.at(now, out)
	if a.over {
		return
	}
	if !a.lease.held && now >= a.lease.lostAt+a.cfg.GiveUp {
		a.end(Outcome{Reason: NoMajority})
		return
	}
	if a.campaign != nil && now >= a.campaign.until {
		a.campaign = nil
	}
	if now >= a.renewAt {
		a.renewAt = now + a.cfg.Renew
		a.ask(now)
		a.tell()
		if a.steward != nil {
			a.repeat(now)
		}
	}
	a.flush(now)
}

// Closed takes the hint that a connection to a party has ended, or that the party refuses one. A
// steward that nobody can reach is replaced without waiting for its silence. A hint about a steward
// that has been silent for as long is no news: the answer to it, a question, would be refused, too,
// and bring the next hint.
func (a *Agent) Closed(now proto.Time, h Host, out *[]Action) {
	a.at(now, out)
	if h == a.voter.steward && h != a.cfg.Self && a.voter.stewardHeard > now-a.cfg.Patience {
		a.voter.stewardHeard, a.hinted = now-a.cfg.Patience, true
		if !a.over && a.voter.electorate.Includes(a.cfg.Self) {
			a.ask(now)
		}
	}
}

// ask asks the voters for a lease, and a voter asks about those that it hasn't heard.
func (a *Agent) ask(now proto.Time) {
	e := a.known.electorate
	var about []subject
	if a.steward != nil && a.steward.begun {
		for _, x := range a.steward.now().Hosts {
			if (x.State == Up || x.State == Draining) && x.Host != a.cfg.Self && a.voter.age(now, x.Host) >= a.cfg.Patience {
				about = append(about, subject{x.Host, x.Incarnation})
			}
		}
		a.steward.silent = len(about)
	}
	// A witness may be slow, and each question to it may cost a file: it is asked only in need.
	needless := !a.hinted && a.lease.needless()
	a.hinted = false
	q := a.lease.ask(now, a.cfg.Lease, e, about)
	m := &Message{Kind: Renew, From: a.cfg.Self, Number: q.number, Incarnation: a.incarnation, At: a.known.at, ID: e.Since, Holds: a.holds}
	if a.steward != nil {
		m.Term = a.steward.term
	}
	for _, x := range about {
		m.About = append(m.About, x.host)
	}
	votes := false
	e.each(func(v Voter) {
		switch {
		case v.Host == a.cfg.Self:
			votes = true
		case !v.Witness || !needless:
			a.send(v.Host, m)
		}
	})
	if votes {
		a.answered(now, a.voter.renew(now, m))
	}
}

// answered takes a voter's answer.
func (a *Agent) answered(now proto.Time, m *Message) {
	if m.Electorate != nil {
		since := a.known.electorate.Since
		a.learn(accepted{at: m.At, steward: m.Steward, electorate: m.Electorate})
		if a.known.electorate.Since != since {
			a.renewAt = now // the voters are others
		}
	}
	if o := m.Outcome; o.Reason != NotOver {
		a.end(o)
	}
	if m.Kind != Grant || a.over {
		return
	}
	q := a.lease.answered(now, m)
	if q == nil {
		return
	}
	if held := a.lease.held; a.lease.renewed(q, a.cfg.Lease) {
		a.extend()
		if !held {
			a.tell()
		}
	}
	switch {
	case a.steward != nil:
		a.judge(now, q)
	case a.lease.held && q.leaderless(2*a.cfg.GiveUp):
		a.end(Outcome{Reason: NoMajority}) // nobody can lead: what the voters agreed on is with the dead alone
	case a.lease.held:
		if r := q.electorate.rank(a.cfg.Self, a.leader); r >= 0 && q.leaderless(a.cfg.Patience+proto.Time(r)*a.cfg.Stagger) {
			a.begin(now)
		}
	}
}

// extend lets the processes act as long as the lease runs, if the steward knows this incarnation.
func (a *Agent) extend() {
	if a.welcome {
		a.do(Action{Kind: Extend, Until: a.lease.until})
	}
}

// welcomed takes the steward's word that this incarnation is in the ledger, or which one may come.
func (a *Agent) welcomed(m *Message) {
	switch {
	case a.welcome || !a.lease.held || m.Incarnation < a.incarnation:
	case m.Incarnation > a.incarnation:
		a.incarnation, a.own = m.Incarnation, nil
		a.do(Action{Kind: Kill})
		a.tell()
	default:
		a.welcome = true
		a.extend()
	}
}

// learn takes a version that some voter has accepted. A steward of an earlier term is over.
func (a *Agent) learn(x accepted) {
	if x.at.After(a.known.at) {
		a.known = x
		a.known.ledger = nil
		a.follow(x.at.Term, x.steward)
	}
}

// follow notes a term and its steward.
func (a *Agent) follow(term uint64, leader Host) {
	if term > a.term {
		a.term, a.leader = term, leader
	}
	if a.steward != nil && a.term > a.steward.term {
		a.stepDown()
	}
}

// tell tells the steward what it may not know.
func (a *Agent) tell() {
	if !a.lease.held {
		return
	}
	if !a.welcome {
		a.toSteward(&Message{Kind: Join, From: a.cfg.Self, Incarnation: a.incarnation, Domain: a.cfg.Domain})
	}
	for _, p := range a.unnoted {
		a.toSteward(&Message{Kind: Report, From: a.cfg.Self, Incarnation: a.incarnation, Place: p})
	}
}

func (a *Agent) toSteward(m *Message) { a.send(a.leader, m) }

// Receive takes a message.
func (a *Agent) Receive(now proto.Time, m *Message, out *[]Action) {
	a.at(now, out)
	switch m.Kind {
	case Renew:
		answer := a.voter.renew(now, m)
		answer.Outcome = a.outcomeFor(m.From)
		a.send(m.From, answer)
		a.release(now, m)
	case Grant, Decline:
		a.answered(now, m)
	case Prepare:
		a.send(m.From, a.voter.prepare(m))
		// This agent's own vote went to an earlier term until now.
		if s := a.steward; s != nil && a.voter.promised > s.term {
			a.stepDown()
		}
		if c := a.campaign; c != nil && a.voter.promised > c.term {
			a.campaign = nil
		}
	case Write:
		a.send(m.From, a.voter.write(now, m))
		a.learn(a.voter.accepted)
	case Promise:
		a.promised(now, m)
	case Wrote:
		a.wrote(now, m)
	case Refuse:
		a.refusal(m)
	case Start:
		a.started(m)
	case Report:
		a.report(now, m)
	case Noted:
		if m.Incarnation == a.incarnation {
			a.unnoted = slices.DeleteFunc(a.unnoted, func(p Place) bool { return p == m.Place })
		}
	case Join:
		a.join(now, m)
	case Welcome:
		a.welcomed(m)
	}
	a.flush(now)
}

// started takes a steward's command to start a process. It obeys if it has heard of no later term,
// if this is the incarnation that is meant, and if it holds a lease.
func (a *Agent) started(m *Message) {
	if m.Term < a.term || m.Incarnation != a.incarnation || !a.lease.held || !a.welcome || a.over {
		return
	}
	a.follow(m.Term, m.From)
	if i := slices.IndexFunc(a.own, m.Place.same); i >= 0 {
		a.toSteward(&Message{Kind: Report, From: a.cfg.Self, Incarnation: a.incarnation, Place: a.own[i]})
		return
	}
	p := m.Place
	p.State = Running
	a.own = append(a.own, p)
	a.do(Action{Kind: Spawn, Place: p})
	a.note(p)
}

// Ended takes the driver's word that a process has ended.
func (a *Agent) Ended(now proto.Time, p Place, how int32, out *[]Action) {
	a.at(now, out)
	if i := slices.IndexFunc(a.own, p.same); i >= 0 && a.own[i].State != Ended {
		a.own[i].State, a.own[i].How = Ended, how
		a.note(a.own[i])
	}
}

// Hold says whether the driver holds something that others may need, as output that nobody has
// taken. As long as it does a drained host doesn't leave. The driver must have said so before it
// says that the process has Ended, and messages to the steward must arrive in order.
func (a *Agent) Hold(holds bool) { a.holds = holds }

// note has the steward told of the state of a process.
func (a *Agent) note(p Place) {
	a.unnoted = slices.DeleteFunc(a.unnoted, p.same)
	a.unnoted = append(a.unnoted, p)
	a.toSteward(&Message{Kind: Report, From: a.cfg.Self, Incarnation: a.incarnation, Place: p})
}

// outcomeFor is what a party that asks must know: that the job is over, or that it has left.
func (a *Agent) outcomeFor(h Host) Outcome {
	switch {
	case a.over && a.outcome.Reason != Drained && a.outcome.Reason != NoMajority:
		return a.outcome
	case a.Leads():
		if x := a.steward.version(a.steward.durable).Entry(h); x != nil && x.State == Left {
			return Outcome{Reason: Drained}
		}
	}
	return Outcome{}
}

// end ends this agent. It goes on answering, so that others learn the outcome.
func (a *Agent) end(o Outcome) {
	if a.over {
		return
	}
	a.over, a.outcome, a.campaign, a.own, a.unnoted = true, o, nil, nil, nil
	a.do(Action{Kind: Kill})
	a.do(Action{Kind: Over, Outcome: o})
}

func (a *Agent) send(to Host, m *Message) {
	m.From = a.cfg.Self
	a.do(Action{Kind: Send, To: to, Message: m})
}

func (a *Agent) do(x Action) { *a.out = append(*a.out, x) }

func (a *Agent) String() string {
	return fmt.Sprintf("host %d.%d term %d", a.cfg.Self, a.incarnation, a.term)
}
