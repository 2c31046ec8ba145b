// Package retry is the part of a member in collectives that survive the death of members. Each
// is tried by an ordinary algorithm, among those that are present. Then the members agree on
// whether it has succeeded everywhere. If not it is tried again, without those that they have
// agreed to be dead.
//
// # What the driver does
//
//   - It carries a try out among [Machine.Present], in a context that is derived from the
//     communicator and from the agreement [Machine.Since] which these are present: its number and
//     whom it found dead. So messages of a try that was given up are never taken for those of
//     another, nor those of a member that had another outcome before it died.
//   - A member whose try fails revokes that context before it goes on: else another would
//     wait there for what this one doesn't send any more.
//   - It enters an agreement of the whole communicator with the flags of its [Result], and hands
//     the outcome to [Machine.Agreed]. A member that a failed try has shown to be dead is
//     among the outcome's Failed: the driver enters when that death is final.
//
// # Invariants
//
//   - All members that live have the same present members, since the same agreement, before each
//     try, and the same [Verdict] after it: they depend on nothing but outcomes of agreements.
//   - A result has the data of all that were present, and no other. All that live are present.
//   - Each further try has fewer members, so there are at most as many as members.
//
// # Limits
//
// What a dead member has contributed to an agreement counts only if the outcomes that it had before
// are those of all others. Package agreement sees to that.
//
// A try is whole or nothing: one death late in a long collective costs all that was done. A
// member that got a result and died may have got one that the others, which try again, don't
// get; a strict agreement rules that out.
package retry

import (
	"slices"

	"banyan/internal/proto"
)

// Result is how a try has ended at one member.
type Result uint8

// Results.
const (
	Done   Result = iota // with success
	Lost                 // a member is dead, or the context was revoked
	Failed               // for another reason: to try again wouldn't help
)

// Flags of an agreement, which is their bitwise AND at all members.
const (
	flagDone  = 1 << iota // no member has failed
	flagSound             // and if some have, then because of deaths
)

// Flags is what a member brings to the agreement on a try.
func (r Result) Flags() uint32 {
	switch r {
	case Done:
		return flagDone | flagSound
	case Lost:
		return flagSound
	}
	return 0
}

// Outcome is what members have agreed on.
type Outcome struct {
	Number uint64 // of the agreement
	Flags  uint32
	// Failed are the members that a contributor knew to be dead, Acknowledged those whose death
	// all contributors had acknowledged.
	Failed, Acknowledged []proto.Rank
}

// Verdict is what follows from an outcome.
type Verdict struct {
	Again  bool // try it anew
	Broken bool // it has failed at a member, not because of a death
	// Missing are the members whose data isn't in the result, and Unacknowledged is the first of
	// them whose death a member hadn't acknowledged, or AnyRank.
	Missing        []proto.Rank
	Unacknowledged proto.Rank
}

// Machine is what a member knows of the tries of one communicator.
type Machine struct {
	members, present []proto.Rank
	since            uint64
}

// New makes the machine of a communicator.
func New(members []proto.Rank) *Machine { return &Machine{members: members, present: members} }

// Present are the members of the next try, in their order in the communicator. The caller must
// not change them.
func (m *Machine) Present() []proto.Rank { return m.present }

// Since is the number of the agreement from which on these members are present, 0 at first.
func (m *Machine) Since() uint64 { return m.since }

// Agreed takes the outcome of the agreement on a try.
func (m *Machine) Agreed(o *Outcome) Verdict {
	v := Verdict{Unacknowledged: proto.AnyRank}
	left := m.present
	if len(o.Failed) > 0 {
		left = without(m.present, o.Failed)
	}
	switch {
	case o.Flags&flagSound == 0:
		v.Broken = true
	case o.Flags&flagDone == 0:
		v.Again = len(left) < len(m.present)
		v.Broken = !v.Again
	case len(m.present) < len(m.members):
		v.Missing = without(m.members, m.present)
		if open := without(v.Missing, o.Acknowledged); len(open) > 0 {
			v.Unacknowledged = open[0]
		}
	}
	if v.Broken || len(left) < len(m.present) {
		m.present, m.since = left, o.Number
	}
	return v
}

// without are the ranks of a list that aren't in another.
func without(list, other []proto.Rank) (left []proto.Rank) {
	for _, r := range list {
		if !slices.Contains(other, r) {
			left = append(left, r)
		}
	}
	return left
}
