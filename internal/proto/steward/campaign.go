package steward

import (
	"slices"

	"banyan/internal/proto"
)

// campaign is an agent's attempt to become the steward of a term. It asks the voters to listen to
// no earlier term, and what they have accepted. Among the answers of a quorum is the last version
// that was written, if any was.
type campaign struct {
	term  uint64
	until proto.Time // it is given up
	asked []Host
	from  []Host // they have promised
	best  accepted
	known []*Ledger // that came with promises
}

// take notes a promise.
func (c *campaign) take(from Host, a accepted) {
	if slices.Contains(c.from, from) {
		return
	}
	c.from = append(c.from, from)
	if a.at.After(c.best.at) {
		c.best = a
	}
	if a.ledger != nil {
		c.known = append(c.known, a.ledger)
	}
}

// won returns the ledger with which the term begins: nil as long as there is no quorum, or the
// quorum's last version is known to a witness only.
//
// In place of the ledger that a witness names, one will do that the same steward wrote after it, or
// that another one wrote whose term began with it. If the difference wasn't durable it might as
// well have been written now: it is facts, or commands that nobody was given. Otherwise a steward
// that was cut off in the middle of a version couldn't go on when the other agent, which went on
// without it, has died. But who votes is no fact: the electorate is the one that came with the last
// version, whatever a later ledger has proposed.
func (c *campaign) won() *Ledger {
	if !c.best.electorate.Quorum(func(v Voter) bool { return slices.Contains(c.from, v.Host) }) {
		return nil
	}
	var best *Ledger
	for _, l := range c.known {
		switch {
		case l.ID == c.best.id:
			best = l
		case best != nil: // the first will do
		case l.ID.Term == c.best.id.Term && l.ID.After(c.best.id), l.Base == c.best.id:
			best = l
		}
	}
	if best != nil && best.Electorate.Since != c.best.electorate.Since {
		best = best.clone()
		best.Electorate = *c.best.electorate
	}
	return best
}

// begin begins a campaign, unless one is under way.
func (a *Agent) begin(now proto.Time) {
	if a.campaign != nil || a.steward != nil {
		return
	}
	term := max(a.voter.promised, a.term, a.refused) + 1
	a.campaign = &campaign{term: term, until: now + 2*a.cfg.Renew, best: a.voter.accepted}
	a.voter.promised, a.voter.to = term, a.cfg.Self
	a.campaign.take(a.cfg.Self, a.voter.accepted)
	a.canvass(now)
}

// canvass asks all voters that weren't asked, and begins the term if it has been won.
func (a *Agent) canvass(now proto.Time) {
	c := a.campaign
	c.best.electorate.each(func(v Voter) {
		if v.Host != a.cfg.Self && !slices.Contains(c.asked, v.Host) {
			c.asked = append(c.asked, v.Host)
			a.send(v.Host, &Message{Kind: Prepare, Term: c.term})
		}
	})
	// Only a quorum's promises say who votes: what this agent has accepted itself may be a change
	// that it proposed when it was cut off, and that nobody has agreed to.
	if ledger := c.won(); ledger != nil {
		a.campaign = nil
		if ledger.Electorate.rank(a.cfg.Self, NoHost) >= 0 { // else it doesn't vote any more
			a.takeOver(now, c.term, ledger)
		}
	}
}

// promised takes a voter's promise.
func (a *Agent) promised(now proto.Time, m *Message) {
	if c := a.campaign; c != nil && m.Term == c.term {
		c.take(m.From, accepted{m.At, m.Steward, m.ID, m.Electorate, m.Ledger})
		a.canvass(now)
	}
}

// refusal takes a voter's word that it has promised a later term.
func (a *Agent) refusal(m *Message) {
	a.refused = max(a.refused, m.Term)
	if c := a.campaign; c != nil && m.Term > c.term {
		a.campaign = nil
	}
	if s := a.steward; s != nil && m.Term > s.term {
		a.stepDown()
	}
}
