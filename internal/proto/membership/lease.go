package membership

import (
	"slices"

	"banyan/internal/proto"
)

// This file is leases: time in which a view stays the last one, for a process that has to know so
// before it acts.
//
// A process asks the members for a lease on its view (AskLease). A member that grants it promises
// to agree to no next view for which the asking process isn't asked, until Config.Promise is over
// by its own clock. The process counts Config.Lease from before it asked, by its own clock. When
// the members that granted, and the process itself, are a quorum, no quorum without the process can
// be without one of them: so no next view is decided before the lease is over, unless this process
// agrees to it. While a lease is in use (Hold) it doesn't: its answer waits.
//
// So at any moment all leases in use, of all processes, are on one view. That takes clocks whose
// rates differ by less than Lease and Promise do, and that don't stand still for the process that
// asks. It doesn't take clocks that agree. A process that is known for certain to have ended is
// waited for by nobody.
type leases struct {
	request  uint32     // the number of the last request
	stamp    proto.Time // when it was made
	granted  []Member   // who has granted it
	until    proto.Time // the end of the lease that a quorum has granted, by the clock of stamps; 0: none
	hold     proto.Time // this process doesn't agree to the next view before
	promises []promise
}

// promise is to a process that has asked for a lease.
type promise struct {
	to    Member
	until proto.Time
}

// AskLease asks all members for a lease on the view in force. stamp is the time, by any clock that
// doesn't stand still. It is that of Leased, too.
func (m *Machine) AskLease(stamp proto.Time, out *Actions) {
	l := &m.leases
	if m.over || m.view == nil || m.proposal != nil || m.cfg.Lease == 0 {
		return
	}
	l.request++
	l.stamp, l.granted = stamp, l.granted[:0]
	x := &Message{Kind: Lease, Number: m.view.Number, Ballot: Ballot{Attempt: l.request}}
	for _, to := range m.view.Members {
		if to != m.cfg.Self && departed(m.gone, to) < 0 {
			m.send(to, x, out)
		}
	}
	m.countGrants()
}

// Leased is until when no process has a later view than the one in force here, by the clock of
// AskLease; 0 if that isn't known. It isn't once this process has agreed to a next view, or is
// about to.
func (m *Machine) Leased() proto.Time {
	if m.over || m.proposal != nil && !m.cfg.bugs.leasesAfterAccepting {
		return 0
	}
	return m.leases.until
}

// Hold keeps this process from agreeing to a next view before a time. It replaces what was said
// before: a time that is past ends it.
func (m *Machine) Hold(now, until proto.Time, out *Actions) {
	m.leases.hold = until
	m.resume(now, out)
}

// Waits says whether a next view waits for this process to end its hold.
func (m *Machine) Waits() bool { return m.round.held && m.leases.hold > 0 }

// grant answers a process that asks for a lease. A process that has accepted a next view may have
// agreed to it for good.
func (m *Machine) grant(now proto.Time, x *Message, out *Actions) {
	if !m.hears(x.From) || x.Number != m.view.Number || m.cfg.Lease == 0 || departed(m.gone, x.From) >= 0 ||
		m.proposal != nil && !m.cfg.bugs.grantsAfterAccepting {
		return
	}
	l := &m.leases
	i := slices.IndexFunc(l.promises, func(p promise) bool { return p.to == x.From })
	if i < 0 {
		i = len(l.promises)
		l.promises = append(l.promises, promise{to: x.From})
	}
	l.promises[i].until = now + m.cfg.Promise
	m.send(x.From, &Message{Kind: Grant, Number: x.Number, Ballot: x.Ballot}, out)
}

// granted takes a promise to this process.
func (m *Machine) granted(x *Message) {
	l := &m.leases
	if !m.hears(x.From) || x.Number != m.view.Number || x.Ballot != (Ballot{Attempt: l.request}) || slices.Contains(l.granted, x.From) {
		return
	}
	l.granted = append(l.granted, x.From)
	m.countGrants()
}

// countGrants begins a lease if those that have granted it are a quorum with this process.
func (m *Machine) countGrants() {
	l := &m.leases
	if 2*(len(l.granted)+1) < len(m.view.Members) && !m.cfg.bugs.leasesAlone {
		return
	}
	var others []Departure
	for _, x := range m.view.Members {
		if x != m.cfg.Self && !slices.Contains(l.granted, x) {
			others = append(others, Departure{x, Silent})
		}
	}
	if m.view.Quorum(others) || m.cfg.bugs.leasesAlone {
		l.until = l.stamp + m.cfg.Lease
		if m.cfg.bugs.longLease {
			l.until += m.cfg.Lease
		}
	}
}

// heldUntil is when this process may agree to what is proposed.
func (m *Machine) heldUntil() proto.Time {
	until := m.leases.hold
	if m.cfg.bugs.agreesWhileHolding {
		until = 0
	}
	for _, p := range m.leases.promises {
		if i := departed(m.round.skip, p.to); i < 0 || m.round.skip[i].Why != Silent {
			continue
		}
		if i := departed(m.gone, p.to); i < 0 || m.gone[i].Why == Silent {
			until = max(until, p.until)
		}
	}
	return until
}

// resume goes on with an answer that was held, if it may leave now.
func (m *Machine) resume(now proto.Time, out *Actions) {
	if m.round.held && !m.over {
		m.complete(now, out)
	}
}

// bugs are known bugs, for canaries.
type bugs struct {
	leasesAfterAccepting, grantsAfterAccepting, leasesAlone, agreesWhileHolding, longLease bool
	ignoresAnnounced, asksOnce, adoptsWithoutMetadata                                      bool
}
