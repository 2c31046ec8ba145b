package thinning

import (
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Debt is that a process which stays has so many messages of a channel from this rank.
type Debt struct {
	Context uint64     `json:"c"`
	To      proto.Rank `json:"t"`
	Number  uint64     `json:"n,omitempty"`
}

// Member is the part of a process that stays.
type Member struct {
	layout   layout.Layout
	rank     proto.Rank
	stay     []proto.Proc // nil before Thin
	heard    []bool       // by rank: all of what it has was said, or it is lost
	debts    []Debt
	claimed  []Debt // what others claim
	told     uint64 // how often the present coordinator has said what they claim
	said     bool   // that this one has settled
	answered uint64 // told, when that was said the last time
}

// NewMember makes the part of a process of a rank.
func NewMember(l layout.Layout, rank proto.Rank) *Member {
	return &Member{layout: l, rank: rank, heard: make([]bool, l.Ranks())}
}

// Thin says which processes stay, by rank; NoProc is none. This process tells each of tell what
// it has of that one's rank. It may be said again, by the next coordinator: a process that has
// settled says so again.
func (m *Member) Thin(stay []proto.Proc) (tell []proto.Proc) {
	m.stay, m.claimed, m.told, m.answered = slices.Clone(stay), nil, 0, 0
	for r, p := range stay {
		switch {
		case p == proto.NoProc || proto.Rank(r) == m.rank:
			m.heard[r] = true
		default:
			tell = append(tell, p)
		}
	}
	return tell
}

// Begun tells whether Thin was said.
func (m *Member) Begun() bool { return m.stay != nil }

// Proc is the process that stays of a rank; of a lost one its first.
func (m *Member) Proc(r proto.Rank) proto.Proc {
	if m.stay == nil || m.stay[r] == proto.NoProc {
		return m.layout.Proc(r, 0)
	}
	return m.stay[r]
}

// Owe says that a process which stays has messages of this rank.
func (m *Member) Owe(d Debt) { m.debts = append(m.debts, d) }

// Claimed says what others claim of this rank, in place of what they claimed before.
func (m *Member) Claimed(debts []Debt) {
	m.claimed = debts
	m.told++
}

// Told is how often this process was told what others claim; Coordinator.Settled wants to know.
func (m *Member) Told() uint64 { return m.told }

// Heard says that the process of a rank has said all that it has, or is dead.
func (m *Member) Heard(r proto.Rank) { m.heard[r] = true }

// Owes tells whether others have more than this process has sent, or haven't said yet what they
// have. sent is how many messages of a channel this process has sent.
func (m *Member) Owes(sent func(context uint64, to proto.Rank) uint64) bool {
	m.debts = slices.DeleteFunc(m.debts, func(d Debt) bool { return sent(d.Context, d.To) >= d.Number })
	return len(m.debts) > 0 || slices.Contains(m.heard, false)
}

// Bound tells whether this process has to go the way that a sibling has gone, though it owes
// nothing of its own: another one that has to waits for it.
func (m *Member) Bound(sent func(context uint64, to proto.Rank) uint64) bool {
	return slices.ContainsFunc(m.claimed, func(d Debt) bool { return d.Number == 0 || sent(d.Context, d.To) < d.Number })
}

// Settle tells whether this process is to say that it has settled: when it owes nothing of its own,
// and again when nobody claims anything of it any more.
func (m *Member) Settle(sent func(context uint64, to proto.Rank) uint64) bool {
	if m.stay == nil || m.said && (len(m.claimed) > 0 || m.told == m.answered) || m.Owes(sent) {
		return false
	}
	m.said, m.answered = true, m.told
	return true
}

// Settled tells whether this process has said that it has settled.
func (m *Member) Settled() bool { return m.said }

// Frozen tells whether no agreement may end at this process by itself: it has said which have, and
// nobody claims anything of it.
func (m *Member) Frozen() bool { return m.said && len(m.claimed) == 0 }

// AllHeard tells whether all others have said what they have.
func (m *Member) AllHeard() bool { return !slices.Contains(m.heard, false) }

// Owed is a rank to which this process owes messages.
func (m *Member) Owed(sent func(context uint64, to proto.Rank) uint64) (to proto.Rank, owed bool) {
	for _, d := range m.debts {
		if sent(d.Context, d.To) < d.Number {
			return d.To, true
		}
	}
	return proto.AnyRank, false
}
