package groupnode

import (
	"context"
	"fmt"
	"sync"
	"time"

	"banyan/internal/proto"
)

// Lease is a promise of the group to this process: until its end no process has a later view than
// View. While it is in use this member agrees to no next view, so the program gives it back when it
// is done.
//
// The end is kept by a clock that goes on while the host sleeps (leaseClock), from before the
// members were asked. They keep their promise for a third longer, from when they are asked.
type Lease struct {
	// Number is that of the view.
	Number uint64
	// Deadline is the lease's end by the clock of package time, which may stand still while the
	// host sleeps: Valid knows better.
	Deadline time.Time

	member *Member
	until  proto.Time // by leaseClock
	held   proto.Time // the same, or later, by the loop's clock
	wanted chan struct{}
	want   sync.Once
	give   sync.Once
}

// Valid says whether the lease hasn't ended.
func (l *Lease) Valid() bool { return leaseClock() < l.until }

// Wanted is closed when a next view waits for the lease.
func (l *Lease) Wanted() <-chan struct{} { return l.wanted }

// Release gives the lease back.
func (l *Lease) Release() {
	l.give.Do(func() {
		l.member.post(func() { l.member.released(l) })
	})
}

// leases is what the loop knows of them.
type leases struct {
	waiting []chan *Lease
	out     map[*Lease]bool // in use
	askedIn uint64          // the number of the view for which the members were asked last
	askAt   proto.Time      // when they may be asked again
}

// leaseSpan is how long a lease lasts, and Timeout how long the members keep to it. So what the
// group waits for the end of a lease of a silent member is over when its silence counts.
func (c *Config) leaseSpan() proto.Time { return proto.Time(c.Timeout) / 4 * 3 }

// Lease waits for a lease on the view in force, until ctx ends or the member does.
func (m *Member) Lease(ctx context.Context) (*Lease, error) {
	reply := make(chan *Lease, 1)
	m.post(func() {
		m.leases.waiting = append(m.leases.waiting, reply)
		m.serveLeases()
		m.settle()
	})
	select {
	case l := <-reply:
		return l, nil
	case <-m.over:
		return nil, m.Err()
	case <-ctx.Done():
	}
	m.post(func() {
		for i, w := range m.leases.waiting {
			if w == reply {
				m.leases.waiting = append(m.leases.waiting[:i], m.leases.waiting[i+1:]...)
				return
			}
		}
		m.released(<-reply)
	})
	return nil, fmt.Errorf("lease: %w: too few members have granted it, or the next view is under way", ctx.Err())
}

// serveLeases asks for a lease, and hands it out, if somebody waits for one.
func (m *Member) serveLeases() {
	l := &m.leases
	if m.machine == nil || m.ended != nil || m.machine.View() == nil || m.memory.busy {
		return // or the program doesn't have the view yet
	}
	if m.machine.Waits() {
		for x := range l.out {
			x.want.Do(func() { close(x.wanted) })
		}
	}
	if len(l.waiting) == 0 {
		return
	}
	number, span := m.machine.View().Number, m.cfg.leaseSpan()
	at := time.Now() // before the clock of leases: the Deadline isn't later than the lease's end
	clock := leaseClock()
	if m.machine.Leased()-clock < span/4*3 && (m.now >= l.askAt || l.askedIn != number) {
		l.askAt, l.askedIn = m.now+span/4, number
		m.machine.AskLease(clock, &m.out)
	}
	left := m.machine.Leased() - clock
	if left < span/4 {
		return
	}
	m.forgetLeases()
	for _, reply := range l.waiting {
		x := &Lease{
			Number: number, Deadline: at.Add(time.Duration(left)), member: m,
			until: clock + left, held: m.clock() + left, wanted: make(chan struct{}),
		}
		l.out[x] = true
		reply <- x
	}
	l.waiting = nil
	m.hold()
}

// hold tells the machine how long it may not agree to a next view.
func (m *Member) hold() {
	until := proto.Time(0)
	for x := range m.leases.out {
		until = max(until, x.held)
	}
	m.machine.Hold(m.now, until, &m.out)
}

// released takes a lease back.
func (m *Member) released(x *Lease) {
	if m.leases.out[x] {
		delete(m.leases.out, x)
		m.hold()
		m.settle()
	}
}

// forgetLeases forgets those that have ended.
func (m *Member) forgetLeases() {
	for x := range m.leases.out {
		if m.clock() > x.held {
			delete(m.leases.out, x)
		}
	}
}

// leaseDeadline is when to ask again for those that wait.
func (m *Member) leaseDeadline() proto.Time {
	if len(m.leases.waiting) == 0 {
		return proto.Never
	}
	return m.leases.askAt
}

// awaitLeases waits until no lease is in use. Until then the others mustn't see that this member
// has ended: its program lives, and relies on them.
func (m *Member) awaitLeases() {
	for m.forgetLeases(); len(m.leases.out) > 0; m.forgetLeases() {
		m.handleFor(time.Millisecond)
	}
}
