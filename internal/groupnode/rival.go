package groupnode

import (
	"context"
	"net"
	"time"
)

// Two foundings of one group are a mistake: two processes without seeds, say, or an operator who
// was wrong. The first member of a view asks its seeds now and then, and those of its own last
// group, whether they are of another founding. Both then say so.

// lookInterval is how often the first member asks.
func (c *Config) lookInterval() time.Duration { return 10 * c.Timeout }

// rival says that there is another founding of the group.
func (m *Member) rival(name, address string, f Founding) {
	level := m.log.Warn
	if !m.rivals[f.ID] {
		level = m.log.Error // once
		m.rivals[f.ID] = true
	}
	level("two foundings of this group live: one of them has to end, and its processes to join the other",
		"other member", name, "at", address, "other founding", f.ID, "its tokens from", f.Base, "own founding", m.founding.ID, "own tokens from", m.founding.Base)
	m.cfg.Observer.Rival(address, f)
}

// lookAround asks for other foundings from time to time, until the member ends.
func (m *Member) lookAround() {
	tick := time.NewTicker(m.cfg.lookInterval())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
		ask := make(chan *hello, 1)
		m.post(func() {
			if m.machine.View().Members[0] != m.self {
				ask <- nil
				return
			}
			ask <- m.hello(toMeet, Nonce{})
		})
		select {
		case h := <-ask:
			if h != nil {
				m.meetSeeds(h)
			}
		case <-m.ctx.Done():
			return
		}
	}
}

// meetSeeds asks all addresses of the seeds once.
func (m *Member) meetSeeds(h *hello) {
	ctx, cancel := context.WithTimeout(m.ctx, 2*handshakeLimit)
	defer cancel()
	for _, seed := range m.cfg.Seeds {
		host, port, _ := net.SplitHostPort(seed) // checked
		hosts := []string{host}
		if net.ParseIP(host) == nil {
			hosts, _ = m.cfg.lookup(ctx, host)
		}
		for _, x := range hosts {
			address := net.JoinHostPort(x, port)
			if address == m.card.Address {
				continue
			}
			_, _, a, err := m.dial(ctx, address, h)
			if err == nil && a.verdict == isMember && a.founding != m.founding {
				m.post(func() { m.rival("", address, a.founding) })
			}
		}
	}
}
