package steward

import "banyan/internal/proto"

// accepted is what a voter has accepted last: a version of the ledger.
type accepted struct {
	at         Version
	steward    Host
	id         Version
	electorate *Electorate
	ledger     *Ledger // nil at a witness
}

// voter is the part of a party that votes. Each of its answers depends only on what it has been
// asked before, so a witness may be one file after another on a shared file system.
type voter struct {
	self     Host
	witness  bool
	promised uint64 // it listens to no term before
	to       Host   // the candidate that it was promised to
	accepted
	since        proto.Time // when this electorate was accepted
	stewardHeard proto.Time // when the steward of at last said that it acts
	granted      []grant    // by host
	doubted      []doubt
}

// doubt is a host that the steward can't hear, as it said last. What can't be commanded isn't kept
// alive by those whom it does reach. But a steward that has gone doubts nobody any more: it counts
// for a few questions of that host, and the steward repeats it. It is counted, and not timed, so
// that a witness is the same for all who read its files.
type doubt struct {
	host Host
	left int
}

// doubtFor is how many questions a doubt is for, if the steward doesn't repeat it.
const doubtFor = 4

// grant is when an agent was last granted a lease.
type grant struct {
	at    proto.Time
	given bool
}

func newVoter(now proto.Time, self Host, witness bool, first *Ledger) voter {
	v := voter{self: self, witness: witness, promised: first.ID.Term, to: first.Electorate.Voters[0].Host, since: now, stewardHeard: now}
	v.accepted = accepted{at: first.ID, steward: v.to, id: first.ID, electorate: &first.Electorate, ledger: first}
	if witness {
		v.ledger = nil
	}
	return v
}

// age is how long a host has been granted nothing, as far as this voter knows: since it accepted
// the electorate at most. Leases from before then may have been granted by other voters.
func (v *voter) age(now proto.Time, h Host) proto.Time {
	since := v.since
	if int(h) < len(v.granted) && v.granted[h].given {
		since = max(since, v.granted[h].at)
	}
	return now - since
}

// heard is when a party has asked for a lease last, if it ever has.
func (v *voter) heard(h Host) (at proto.Time, ok bool) {
	if int(h) >= len(v.granted) || !v.granted[h].given {
		return 0, false
	}
	return v.granted[h].at, true
}

// doubt notes which hosts the steward can't hear.
func (v *voter) doubt(hosts []Host) {
	v.doubted = nil
	for _, h := range hosts {
		v.doubted = append(v.doubted, doubt{h, doubtFor})
	}
}

// withholds says whether a host that asks gets no lease, because the steward can't hear it. The
// steward itself has just heard it.
func (v *voter) withholds(h Host) bool {
	if v.self == v.steward {
		return false
	}
	for i := range v.doubted {
		if d := &v.doubted[i]; d.host == h && d.left > 0 {
			d.left--
			return true
		}
	}
	return false
}

// renew answers the question of an agent. A voter that has accepted an electorate of which the
// agent hasn't heard grants nothing.
func (v *voter) renew(now proto.Time, m *Message) *Message {
	answer := &Message{Kind: Grant, From: v.self, Number: m.Number, At: v.at, Steward: v.steward}
	if v.at.After(m.At) {
		answer.Electorate = v.electorate
		if v.electorate.Since != m.ID {
			answer.Kind = Decline
			return answer
		}
	}
	if m.Term != 0 && m.Term == v.at.Term && m.From == v.steward {
		v.stewardHeard = now
		v.doubt(m.About)
	}
	if answer.Withheld = v.withholds(m.From); !answer.Withheld {
		for int(m.From) >= len(v.granted) {
			v.granted = append(v.granted, grant{})
		}
		v.granted[m.From] = grant{now, true}
	}
	answer.StewardAge = now - v.stewardHeard
	for _, h := range m.About {
		answer.Ages = append(answer.Ages, v.age(now, h))
	}
	return answer
}

// prepare answers a candidate.
func (v *voter) prepare(m *Message) *Message {
	if m.Term < v.promised || m.Term == v.promised && m.From != v.to {
		return v.refuse()
	}
	v.promised, v.to = m.Term, m.From
	return &Message{Kind: Promise, From: v.self, Term: m.Term, At: v.at, Steward: v.steward, ID: v.id, Electorate: v.electorate, Ledger: v.ledger}
}

func (v *voter) refuse() *Message { return &Message{Kind: Refuse, From: v.self, Term: v.promised} }

// write answers a steward, or a candidate whose term begins.
func (v *voter) write(now proto.Time, m *Message) *Message {
	if m.At.Term < v.promised {
		return v.refuse()
	}
	v.promised, v.to = m.At.Term, m.From
	if m.At.After(v.at) {
		if m.Electorate.Since != v.electorate.Since {
			v.since = now
		}
		v.accepted = accepted{at: m.At, steward: m.From, id: m.ID, electorate: m.Electorate, ledger: m.Ledger}
		if v.witness {
			v.ledger = nil
		}
		v.stewardHeard, v.doubted = now, nil
	}
	return &Message{Kind: Wrote, From: v.self, At: m.At}
}

// Witness is a party that only votes. It keeps no ledger.
type Witness struct{ voter voter }

// NewWitness makes a witness.
func NewWitness(now proto.Time, self Host, first *Ledger) *Witness {
	return &Witness{newVoter(now, self, true, first)}
}

// Receive takes a message.
func (w *Witness) Receive(now proto.Time, m *Message, out *[]Action) {
	var answer *Message
	switch m.Kind {
	case Renew:
		answer = w.voter.renew(now, m)
	case Prepare:
		answer = w.voter.prepare(m)
	case Write:
		answer = w.voter.write(now, m)
	default:
		return
	}
	*out = append(*out, Action{Kind: Send, To: m.From, Message: answer})
}
