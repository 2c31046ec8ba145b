package fleet

import (
	"context"
	"fmt"
	"strings"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/hosts"
	"banyan/internal/job/placement"
)

// Join is where agents come to by themselves, such as those of Kubernetes' pods.
type Join struct {
	Address string // to listen on, as HOST:PORT or :PORT
	Key     secure.Key
}

// Awaited is the list of so many hosts whose agents come by themselves. Nothing is known of them.
func Awaited(n int) (list hosts.List) {
	for i := range n {
		list = append(list, hosts.Host{Name: fmt.Sprintf("agent %d", i)})
	}
	return list
}

// listen opens the port for agents that come by themselves, and takes them.
func (m *muster) listen(ctx context.Context, f *Fleet) (err error) {
	if f.listener, err = remote.Listen(m.Join.Address, m.Join.Key, remote.Options{Note: m.Note}); err != nil {
		return err
	}
	f.key = m.Join.Key
	m.Note(fmt.Sprintf("waits at %s for %s, up to %v", strings.Join(f.listener.Addresses(), " or "), plural(len(m.all), "agent"), m.Limit))
	m.missing = func(h *candidate) string { return f.listener.Missing(h.place) }
	f.starters.Go(func() { m.take(ctx, f) })
	return nil
}

// take takes all agents that come: those of the hosts that are waited for, and later ones, which
// are added to the job.
func (m *muster) take(ctx context.Context, f *Fleet) {
	for {
		r, err := f.listener.Next(ctx)
		if err != nil {
			return
		}
		if r.Number() < len(m.all) && m.come(ctx, m.all[r.Number()], r) {
			continue
		}
		select {
		case <-f.placed:
			if _, err := f.admit(r, joined(r.Host())); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// TakeLater takes agents that come by themselves to a launcher that has taken over.
func (f *Fleet) TakeLater() {
	if f.config.Join == nil {
		return
	}
	f.starters.Go(func() {
		for {
			r, err := f.listener.Next(f.running)
			if err != nil {
				return
			}
			if !r.New() {
				continue // it belongs to the job, and its host was held for lost
			}
			if _, err := f.admit(r, joined(r.Host())); err != nil {
				return
			}
		}
	})
}

// come tells that the agent of a host has come and, later, that it is lost. It returns false if
// nobody waits for it any more.
func (m *muster) come(ctx context.Context, h *candidate, r *remote.Remote) bool {
	go func() {
		select {
		case <-r.Lost():
			m.tell(ctx, news{of: h, agent: r, gone: true})
		case <-m.over:
		case <-ctx.Done():
		}
	}()
	return m.tell(ctx, news{of: h, agent: r})
}

// joined is what placement must know of a host whose agent has come by itself.
func joined(h agent.Host) placement.Host {
	return placement.Host{Name: h.Name, Slots: h.Slots, Rack: h.Rack, Zone: h.Zone, Kernel: h.Boot}
}

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
