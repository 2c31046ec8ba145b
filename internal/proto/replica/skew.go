package replica

import (
	"math"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// skew is how far this replica's program is ahead of its siblings', by what it has
// received. See "How far a replica may be ahead" in the package's documentation.
type skew struct {
	limit    uint64 // by how much it may be ahead, as counted by Received; 0: no limit, no reports
	received uint64 // by the program so far
	due      uint64 // how much that is when the siblings are told next
	horizon  uint64 // above it the program is ahead of some sibling by more than the limit
	through  bool   // the program is through

	reported [layout.MaxDegree]uint64 // by replica: how much it said it has received
}

// ReportsPerLimit is how many reports a replica makes to each of its siblings while it
// receives as much as one may be ahead.
const ReportsPerLimit = 4

// everything is what a program that is through counts as having received.
const everything = math.MaxUint64

func newSkew(limit uint64) skew {
	l := skew{limit: limit, due: math.MaxUint64, horizon: math.MaxUint64}
	if limit > 0 {
		l.due = l.step()
	}
	return l
}

// step is how much is received from one report to the next.
func (l *skew) step() uint64 { return max(1, l.limit/ReportsPerLimit) }

// Received notes that the program has received an eager message of another rank, which
// waits in no queue any more. The size is what it took there, the same at all replicas.
// If the result is true a Report is due.
func (m *Machine) Received(size uint64) (due bool) {
	m.skew.received += size
	return m.skew.received >= m.skew.due
}

// Report tells the siblings how much the program has received.
func (m *Machine) Report(out *Actions) {
	if m.skew.limit > 0 {
		m.skew.due = m.skew.received + m.skew.step()
		m.report(m.siblings(), out)
	}
}

// Through says that the program is through, so no sibling may wait for it to receive more.
func (m *Machine) Through(out *Actions) {
	m.skew.through = true
	m.Report(out)
	m.measure()
}

// Reported takes in a sibling's report.
func (m *Machine) Reported(from proto.Proc, received uint64) {
	if m.Alive(from) && m.layout.Rank(from) == m.rank && from != m.self {
		m.skew.reported[m.layout.Replica(from)] = received
		m.measure()
	}
}

// Throttled says whether the program should send nothing more for now: it is ahead of a sibling
// by more than Config.MaxSkew, and no process can be waiting for it. That may end with any
// call but Received.
func (m *Machine) Throttled() bool {
	return m.skew.received > m.skew.horizon && m.arrival.offered == 0
}

// siblings are the other replicas of this process's rank that take part.
func (m *Machine) siblings() replicas { return m.present(m.rank) &^ m.bit(m.self) }

func (m *Machine) report(to replicas, out *Actions) {
	received := m.skew.received
	if m.skew.through {
		received = everything
	}
	for ; m.skew.limit > 0 && to != 0; to &= to - 1 {
		out.report(m.layout.Proc(m.rank, to.lowest()), received)
	}
}

// measure finds how much the program may receive by what is known of its siblings.
func (m *Machine) measure() {
	l := &m.skew
	l.horizon = math.MaxUint64
	if l.limit == 0 || l.through {
		return
	}
	for set := m.siblings(); set != 0; set &= set - 1 {
		if told := l.reported[set.lowest()]; told < math.MaxUint64-l.limit {
			l.horizon = min(l.horizon, told+l.limit)
		}
	}
}

// welcome makes this process wait for a sibling that has joined: the sibling says next how much it
// has received, and this process tells it the same.
func (m *Machine) welcome(sibling replicas, out *Actions) {
	m.skew.reported[sibling.lowest()] = 0
	m.measure()
	m.report(sibling, out)
}
