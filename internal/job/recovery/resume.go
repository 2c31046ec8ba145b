package recovery

import (
	"slices"

	"banyan/internal/proto"
)

// A leader that is lost may leave a replacement under way. The next leader can't begin another one
// for the slot before this one has ended, or is a replica: two processes would act as one. Nor may
// it tell the others that it is dead before it is.

// Left is a replacement that another leader has begun, and of which it isn't known that all know
// it.
type Left struct {
	Process
	Donor Process
	// Arrived says that the others may have been told of it.
	Arrived bool
	// Follows says that its output follows its donor's: the donor's mark may have been answered, so
	// it may be a replica by now, and the last of its rank.
	Follows bool
	// Committed says that it is a replica, and fills its slot.
	Committed bool
}

// Resume goes on with a replacement of another leader, once the death of the process that it
// replaces was told, and all were told again of the replacement unless it is to be dismissed. It is
// dismissed if its donor can't have given its state away.
func (m *Machine) Resume(now proto.Time, x Left, out *[]Action) {
	m.waiting = slices.DeleteFunc(m.waiting, func(p proto.Proc) bool { return p == x.Proc })
	m.Reserve(x.Proc, x.Incarnation)
	a := &Attempt{Process: x.Process, Donor: x.Donor, Began: now, follows: x.Follows || x.Committed, donorDied: !m.alive(x.Donor)}
	m.attempts = append(m.attempts, a)
	switch {
	case x.Committed:
		m.fill(x.Process, proto.Never)
		m.enter(now, a, BecomeKnown)
	case x.Follows:
		m.enter(now, a, TakeOver)
	case x.Arrived:
		m.enter(now, a, FindSafepoint)
		m.Fail(a.Process, LeaderLost, Nobody, out)
	default:
		m.enter(now, a, GetReady)
		m.Fail(a.Process, LeaderLost, Nobody, out)
	}
}
