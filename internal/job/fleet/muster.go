package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/hosts"
)

// muster waits for hosts, and decides what happens if one doesn't come up.
type muster struct {
	Config
	all  []*candidate
	ask  chan news
	over chan struct{} // closed when no news are read any more
	// missing says why a host isn't there in time. nil: nothing is known.
	missing func(h *candidate) string
}

// candidate is a host that may come up.
type candidate struct {
	hosts.Host
	place int // in the list of hosts
	spare bool
	agent agent.Agent // nil: it hasn't come up
	why   error       // it won't
}

// news are of one host: its agent has come, or won't, or has gone and another may come.
type news struct {
	of    *candidate
	agent agent.Agent
	why   error
	gone  bool
}

// tell returns false if nobody listens any more.
func (m *muster) tell(ctx context.Context, n news) bool {
	select {
	case m.ask <- n:
		return true
	case <-m.over:
	case <-ctx.Done():
	}
	return false
}

// wait waits until the hosts that are needed have come up.
func (m *muster) wait(ctx context.Context) error {
	var late <-chan time.Time
	defer close(m.over)
	progress := newProgress(ctx)
	for {
		active, spares := m.pending(false), m.pending(true)
		switch {
		case len(active) == 0 && len(spares) == 0:
			return m.enough()
		case len(active) == 0 && late == nil:
			late = time.After(grace)
		}
		select {
		case n := <-m.ask:
			m.hear(n)
		case <-late:
			for _, h := range spares {
				m.hear(news{of: h, why: errors.New("it takes longer than the others")})
			}
		case <-progress.due:
			m.Note(progress.text(len(m.all), append(active, spares...)))
		case <-ctx.Done():
			for _, h := range append(active, spares...) {
				m.hear(news{of: h, why: m.late(h)})
			}
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
		}
	}
}

// late is why a host isn't there in time.
func (m *muster) late(h *candidate) error {
	if m.missing != nil {
		return errors.New(m.missing(h))
	}
	return errors.New("it hasn't come up in time")
}

// pending are the hosts of which nothing is known yet.
func (m *muster) pending(spare bool) (all []*candidate) {
	for _, h := range m.all {
		if h.agent == nil && h.why == nil && h.spare == spare {
			all = append(all, h)
		}
	}
	return all
}

// hear takes news. A spare host takes the place of one that doesn't come up: one that has come up,
// if there is one.
func (m *muster) hear(n news) {
	h := n.of
	switch {
	case n.gone:
		if h.agent == n.agent {
			h.agent = nil
		}
		return
	case h.why != nil || h.agent != nil && n.agent != nil:
		return
	case n.agent != nil:
		h.agent = n.agent
		return
	}
	h.why, h.agent = n.why, nil
	if h.spare {
		m.Note(fmt.Sprintf("the spare host %s hasn't come up: %v", h.Name, h.why))
		return
	}
	var next *candidate
	for _, s := range m.all {
		if s.spare && s.why == nil && (next == nil || next.agent == nil && s.agent != nil) {
			next = s
		}
	}
	if next == nil {
		if m.Min > 0 {
			m.Note(fmt.Sprintf("%s hasn't come up: %v", h.Name, h.why))
		}
		return
	}
	next.spare = false
	m.Note(fmt.Sprintf("%s hasn't come up (%v): %s takes its place", h.Name, h.why, next.Name))
}

// enough says whether enough hosts have come up.
func (m *muster) enough() error {
	up := 0
	var lost []*candidate
	var said []string
	for _, h := range m.all {
		switch {
		case h.agent != nil && !h.spare:
			up++
		case h.why != nil:
			lost = append(lost, h)
			said = append(said, fmt.Sprintf("%s: %v", h.Name, h.why))
		}
	}
	needed := m.needed()
	if up >= needed {
		return nil
	}
	return fmt.Errorf("%d of %d hosts have come up; not %s: %s", up, needed, names(lost), strings.Join(said, "; "))
}

// needed is how many hosts must come up.
func (m *muster) needed() (n int) {
	for _, h := range m.all {
		if !m.Job.Hosts[h.place].Spare {
			n++
		}
	}
	if m.Min > 0 {
		n = min(n, m.Min)
	}
	return n
}
