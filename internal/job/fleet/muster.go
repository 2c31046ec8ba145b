package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
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

	begun time.Time
}

// candidate is a host that may come up.
type candidate struct {
	hosts.Host
	place int // in the list of hosts
	spare bool
	agent agent.Agent // nil: it hasn't come up
	why   error       // it won't
	// trouble is why it hasn't come up at first. It is tried again, but nobody waits for it if
	// another host can take its place.
	trouble error
	given   bool // another host has its place, or there is none

	greeted atomic.Int64  // when its command was answered, after the begin; 0: not yet
	came    time.Duration // when its agent had dialled
}

// news are of one host: its agent has come, or won't, or has gone and another may come.
type news struct {
	of    *candidate
	agent agent.Agent
	why   error
	gone  bool
	again bool // it hasn't come, and is tried again
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
		case late == nil && len(active) == 0:
			late = time.After(grace)
		case late == nil && m.replaceable(active):
			late = time.After(max(grace, time.Since(m.begun))) // as long again as the others have taken
		}
		select {
		case n := <-m.ask:
			m.hear(n)
		case <-late:
			late = nil
			for _, h := range spares {
				m.hear(news{of: h, why: errLate})
			}
			for _, h := range active {
				m.hear(news{of: h, why: errLate, again: true})
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

var errLate = errors.New("it takes longer than the others")

// replaceable says whether there are spare hosts that are up for all these.
func (m *muster) replaceable(late []*candidate) bool {
	up := 0
	for _, h := range m.all {
		if h.spare && h.agent != nil {
			up++
		}
	}
	return up >= len(late)
}

// pending are the hosts that are waited for: not those whose places were taken.
func (m *muster) pending(spare bool) (all []*candidate) {
	for _, h := range m.all {
		if h.agent == nil && h.why == nil && !h.given && h.spare == spare {
			all = append(all, h)
		}
	}
	return all
}

// hear takes news.
func (m *muster) hear(n news) {
	h := n.of
	switch {
	case n.gone:
		if h.agent == n.agent {
			h.agent = nil
		}
		return
	case h.why != nil || h.agent != nil && (n.agent != nil || n.again):
		return
	case n.agent != nil:
		h.agent, h.came = n.agent, time.Since(m.begun)
	case n.again:
		h.trouble = n.why
	default:
		h.why, h.agent = n.why, nil
		if h.spare && !h.given {
			m.Note(fmt.Sprintf("the spare host %s hasn't come up: %v", h.Name, h.why))
		}
	}
	m.replace()
}

// replace has spare hosts take the places of those that won't come up: spare hosts that are up, if
// there are any. A host in trouble changes places with a spare one that is up. It isn't waited for,
// but if it comes it is a spare one.
func (m *muster) replace() {
	for _, h := range m.all {
		why := h.why
		if why == nil {
			why = h.trouble
		}
		if h.spare || h.agent != nil || why == nil || h.given {
			continue
		}
		var next *candidate
		for _, s := range m.all {
			if s.spare && s.why == nil && (s.agent != nil || h.why != nil) && (next == nil || next.agent == nil && s.agent != nil) {
				next = s
			}
		}
		switch {
		case next != nil:
			next.spare, h.spare, h.given = false, h.why == nil, true
			m.Note(fmt.Sprintf("%s hasn't come up (%v): %s takes its place", h.Name, why, next.Name))
		case h.why != nil:
			h.given = true
			if m.Min > 0 {
				m.Note(fmt.Sprintf("%s hasn't come up: %v", h.Name, h.why))
			}
		}
	}
}

// enough says whether enough hosts have come up.
func (m *muster) enough() error {
	up := 0
	var said []string
	for _, h := range m.all {
		switch {
		case h.agent != nil && !h.spare:
			up++
		case h.why != nil:
			said = append(said, fmt.Sprintf("%s (%v)", h.Name, h.why))
		}
	}
	needed := m.needed()
	if up >= needed {
		return nil
	}
	return fmt.Errorf("%d of %d hosts have come up; missing: %s", up, needed, strings.Join(said, ", "))
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
