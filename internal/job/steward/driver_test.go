package steward

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// noted is a Party that notes what it is told.
type noted struct {
	mu    sync.Mutex
	terms []uint64
	leads bool
	state []byte // with which it leads
	kept  uint64
	lost  []steward.Host
	left  []steward.Host
	until proto.Time
	over  bool
	why   steward.Outcome
	holds atomic.Bool
}

func (n *noted) do(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *noted) Extend(until proto.Time) { n.do(func() { n.until = until }) }
func (n *noted) Kill()                   { n.do(func() { n.until = 0 }) }
func (n *noted) Lead(term uint64, l *steward.Ledger) {
	n.do(func() { n.leads, n.terms, n.state = true, append(n.terms, term), l.State })
}
func (n *noted) StepDown()                   { n.do(func() { n.leads = false }) }
func (n *noted) Kept(number uint64)          { n.do(func() { n.kept = number }) }
func (n *noted) HostLost(h steward.Host)     { n.do(func() { n.lost = append(n.lost, h) }) }
func (n *noted) Follow(uint64, steward.Host) {}
func (n *noted) HostLeft(h steward.Host)     { n.do(func() { n.left = append(n.left, h) }) }
func (n *noted) Over(o steward.Outcome)      { n.do(func() { n.over, n.why = true, o }) }

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}

// group starts three parties.
func group(t *testing.T) (parties []*noted, drivers []*Driver) {
	return groupOf(t, 2*proto.Time(time.Second))
}

func groupOf(t *testing.T, lease proto.Time) (parties []*noted, drivers []*Driver) {
	const n = 3
	var hosts []steward.HostEntry
	var listeners []*Listener
	addresses := make(map[steward.Host][]string)
	for h := range steward.Host(n) {
		hosts = append(hosts, steward.HostEntry{Host: h, Domain: int32(h)})
		l, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners, addresses[h] = append(listeners, l), []string{l.Address()}
	}
	first := steward.NewLedger(hosts, nil, steward.NoHost, false, steward.MaxVoters)
	key := secure.NewKey()
	for h := range steward.Host(n) {
		c := steward.Defaults(proto.Time(time.Second))
		c.Self, c.Domain = h, int32(h)
		c.Lease, c.Margin = lease, proto.Time(time.Second)/2
		parties = append(parties, &noted{})
		drivers = append(drivers, Start(Config{Machine: c, First: first, Key: key, Addresses: addresses, Party: parties[h], Holds: parties[h].holds.Load}, listeners[h]))
		t.Cleanup(drivers[h].Close)
	}
	return parties, drivers
}

// A host that is drained leaves when it holds nothing any more. The others decide without it.
func TestDrained(t *testing.T) {
	parties, drivers := group(t)
	const goes = 2
	parties[goes].holds.Store(true)
	drain := func() {
		for _, d := range drivers {
			d.Drain(goes)
		}
	}
	await(t, "a steward", func() bool {
		drain()
		return slices.ContainsFunc(parties, func(p *noted) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.leads })
	})
	parties[goes].holds.Store(false)
	left := func(p *noted) bool { p.mu.Lock(); defer p.mu.Unlock(); return slices.Contains(p.left, goes) }
	await(t, "it has left", func() bool { drain(); return slices.ContainsFunc(parties, left) })
	await(t, "it knows", func() bool {
		p := parties[goes]
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.over && p.why.Reason == steward.Drained
	})
	drivers[goes].Close()
	await(t, "the others go on", func() bool {
		drivers[0].Keep([]byte("more"), 1)
		drivers[1].Keep([]byte("more"), 1)
		time.Sleep(20 * time.Millisecond)
		return slices.ContainsFunc(parties, func(p *noted) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.kept == 1 })
	})
}

// The steward's party ends. Another one leads in a later term, with what was kept, and finds the
// host lost.
func TestNextSteward(t *testing.T) {
	parties, drivers := group(t)
	leader := func(without int) int {
		for i, p := range parties {
			p.mu.Lock()
			leads := p.leads
			p.mu.Unlock()
			if leads && i != without {
				return i
			}
		}
		return -1
	}
	await(t, "a steward", func() bool { return leader(-1) >= 0 })
	// On a busy machine the steward may change: the state is kept by the one that leads.
	at := -1
	await(t, "the state is kept", func() bool {
		if at = leader(-1); at < 0 {
			return false
		}
		drivers[at].Keep([]byte("the state"), 7)
		time.Sleep(20 * time.Millisecond)
		parties[at].mu.Lock()
		defer parties[at].mu.Unlock()
		return parties[at].kept == 7
	})
	for i, p := range parties {
		await(t, fmt.Sprintf("party %d may act", i), func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.until > deadline.Now() })
	}
	drivers[at].Close()
	next := -1
	await(t, "another steward", func() bool { next = leader(at); return next >= 0 })
	p := parties[next]
	p.mu.Lock()
	if string(p.state) != "the state" || p.terms[len(p.terms)-1] < 2 {
		t.Errorf("it leads with %q, terms %v", p.state, p.terms)
	}
	p.mu.Unlock()
	await(t, "the host is lost", func() bool {
		for _, p := range parties {
			p.mu.Lock()
			found := len(p.lost) > 0 && p.lost[0] == steward.Host(at)
			p.mu.Unlock()
			if found {
				return true
			}
		}
		return false
	})
	await(t, "the end", func() bool {
		if next = leader(at); next >= 0 {
			drivers[next].Finish(3)
		}
		for i, p := range parties {
			p.mu.Lock()
			over := p.over
			p.mu.Unlock()
			if i != at && !over {
				time.Sleep(20 * time.Millisecond)
				return false
			}
		}
		return true
	})
}
