package steward

import (
	"slices"
)

// Host numbers the parties of a job in the order in which they joined: the hosts, each with its
// agent; the console, if it runs on a machine of its own; the witness. A lower number is more
// senior. No number is used twice.
type Host int32

// NoHost is the Host that doesn't exist.
const NoHost Host = -1

// Version orders everything that is written to ledgers: by term, then by the steward's count within
// the term.
type Version struct{ Term, Number uint64 }

// After says whether v is later than w.
func (v Version) After(w Version) bool {
	return v.Term > w.Term || v.Term == w.Term && v.Number > w.Number
}

// Voter is a party that votes.
type Voter struct {
	Host Host
	// Witness says that the voter keeps no ledger. It votes on terms and electorates.
	Witness bool
}

// Electorate is the parties that vote. While it changes, both the former and the new voters must
// agree.
type Electorate struct {
	Since  Version // it was written in this version
	Voters []Voter // agents first, by seniority
	Former []Voter // nil, unless the electorate is changing
}

// Changing says that the former voters must agree, too.
func (e *Electorate) Changing() bool { return e.Former != nil }

// Includes says whether a party votes.
func (e *Electorate) Includes(h Host) bool {
	return slices.ContainsFunc(e.Voters, func(v Voter) bool { return v.Host == h }) ||
		slices.ContainsFunc(e.Former, func(v Voter) bool { return v.Host == h })
}

// Quorum says whether the voters of which has is true can decide for all. Any two quorums of an
// electorate have a voter in common.
func (e *Electorate) Quorum(has func(Voter) bool) bool {
	return majority(e.Voters, has) && (e.Former == nil || majority(e.Former, has))
}

// majority is more than half of the voters, or half of them with the first, the most senior one.
func majority(voters []Voter, has func(Voter) bool) bool {
	n := 0
	for _, v := range voters {
		if has(v) {
			n++
		}
	}
	return 2*n > len(voters) || 2*n == len(voters) && n > 0 && has(voters[0])
}

// each calls do for each voter once, the new ones first.
func (e *Electorate) each(do func(Voter)) {
	for _, v := range e.Voters {
		do(v)
	}
	for _, v := range e.Former {
		if !slices.Contains(e.Voters, v) {
			do(v)
		}
	}
}

// rank is how many voters that keep a ledger come before a party, without the one left out. It is
// negative if the party isn't such a voter.
func (e *Electorate) rank(h, without Host) int {
	rank := 0
	for _, v := range e.Voters {
		switch {
		case v.Witness:
		case v.Host == h:
			return rank
		case v.Host != without:
			rank++
		}
	}
	return -1
}

// Elect chooses the voters among the hosts of a ledger: those that vote already and are up, then
// others up to most, first from failure domains without a voter, and more senior ones first. If
// that is an even number the console votes too, or else the witness, or else a host that is to
// leave and hasn't finished. If it is one host, such a host and one of the others vote with it:
// then any of the three may die. If no host is up but those that are to leave, they vote:
// otherwise the electorate would stay what it was, with those that are lost.
func (l *Ledger) Elect(most int) []Voter {
	able := Up
	if !slices.ContainsFunc(l.Hosts, func(x HostEntry) bool { return x.State == Up && !x.Console }) {
		able = Draining
	}
	var voters []Voter
	domains := map[int32]bool{}
	add := func(x *HostEntry) {
		if len(voters) < most && !slices.Contains(voters, Voter{Host: x.Host}) {
			voters = append(voters, Voter{Host: x.Host})
			domains[x.Domain] = true
		}
	}
	for _, pass := range []func(x *HostEntry) bool{
		func(x *HostEntry) bool { return slices.Contains(l.Electorate.Voters, Voter{Host: x.Host}) },
		func(x *HostEntry) bool { return !domains[x.Domain] },
		func(*HostEntry) bool { return true },
	} {
		for i := range l.Hosts {
			if len(voters) == most {
				break
			}
			if x := &l.Hosts[i]; x.State == able && !x.Console && pass(x) {
				add(x)
			}
		}
	}
	slices.SortFunc(voters, func(v, w Voter) int { return int(v.Host - w.Host) })
	var leaving, third []Voter
	for _, x := range l.Hosts {
		switch {
		case x.State == Draining && able == Up && len(leaving) == 0 && l.busy(x.Host):
			leaving = []Voter{{Host: x.Host}}
		case x.Console && x.State == Up:
			third = []Voter{{Host: x.Host}}
		}
	}
	if third == nil && l.Witness != NoHost {
		third = []Voter{{Host: l.Witness, Witness: true}}
	}
	switch {
	case len(voters)%2 == 0 && third != nil:
		return append(voters, third...)
	case len(voters)%2 == 0 && len(voters) > 0:
		return append(voters, leaving...)
	case len(voters) == 1 && leaving != nil && third != nil:
		return append(append(voters, leaving...), third...)
	}
	return voters
}

// busy says whether a process runs on a host, or may.
func (l *Ledger) busy(h Host) bool {
	return slices.ContainsFunc(l.Places, func(p Place) bool { return p.Host == h && p.State != Ended })
}
