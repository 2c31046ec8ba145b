package group

import (
	"context"
	"time"

	"banyan/internal/groupnode"
)

// Lease is the group's word that View holds: until the lease ends, no process has a later view. So
// what a program derives from the view, such as who is the leader or who owns a shard, holds for
// nobody else meanwhile. At any moment all leases of all members are on one view.
//
// A lease ends three quarters of Config.HeartbeatTimeout after the members were asked for it, or
// when it is released. It isn't taken back: a next view in which the members agree waits for it.
// So a program takes a lease for one step of its work, and releases it after the step. The end of a
// process ends its leases at once, if that end is certain to others.
//
// A lease holds as long as the program looks at it: [Lease.Valid] before each act, or a deadline
// for an act that takes time. A process that is stopped between looking and acting (by SIGSTOP, by
// the garbage collector, by a virtual machine that is moved) acts late. Only a resource that
// refuses lower View.Tokens than it has seen keeps such an act out.
type Lease struct {
	// View is the view that holds.
	View View
	// Deadline is the lease's end, for contexts and timers. It is kept by the clock of package
	// time, which may stand still while the host sleeps; Valid uses one that doesn't.
	Deadline time.Time

	lease *groupnode.Lease
}

// Valid says whether the lease hasn't ended by time. It doesn't know of Release.
func (l *Lease) Valid() bool { return l.lease.Valid() }

// Wanted is closed when a next view waits for the lease to be released, or to end.
func (l *Lease) Wanted() <-chan struct{} { return l.lease.Wanted() }

// Release ends the lease. The program must not act on it any more. Further calls do nothing.
func (l *Lease) Release() { l.lease.Release() }

// Lease waits for a lease on the view in force, until ctx ends. More than half of the view has to
// be reached, or half of it with its first member. If these granted a lease lately they aren't
// asked again, otherwise it takes a round trip to them. The error says what is missing, or is that
// of Err.
//
// Close, and any other end of the member, waits for leases to be released or to end: to the others,
// the member lives until then.
func (m *Member) Lease(ctx context.Context) (*Lease, error) {
	for {
		l, err := m.node.Lease(ctx)
		if err != nil {
			return nil, err
		}
		if v := m.Latest(); v.Number == l.Number {
			return &Lease{View: v, Deadline: l.Deadline, lease: l}, nil
		}
		l.Release() // it has ended meanwhile
	}
}
