package fleet

import (
	"context"
	"fmt"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/starter"
	"banyan/internal/job/starter/stage"
)

// begin starts all agents.
func (m *muster) begin(ctx context.Context, f *Fleet) error {
	if m.Join != nil {
		return m.listen(ctx, f)
	}
	var far []*candidate
	for _, h := range m.all {
		if h.place != m.Here {
			far = append(far, h)
			continue
		}
		local, err := agent.NewLocal()
		if err != nil {
			return err
		}
		h.agent = local
		f.Agents = append(f.Agents, local) // to be closed, if others don't come
	}
	if len(far) == 0 {
		return nil
	}
	f.key = secure.NewKey()
	var err error
	if f.listener, err = remote.Listen(":0", f.key, remote.Options{Note: m.Note}); err != nil {
		return err
	}
	crew := m.crew(ctx, far)
	crew.Key, crew.Order.Connect = f.key, f.listener.Addresses()
	if m.Stage {
		if f.files, err = stage.Serve(f.key, starter.Servable(m.Order.Files)); err != nil {
			return fmt.Errorf("no port for the job's files: %w", err)
		}
		crew.Order.Stage = remote.Addresses(f.files.Port())
		f.config.Order.Stage = crew.Order.Stage // for hosts that are added
	}
	f.starters.Go(func() { crew.Run(ctx) })
	for _, h := range far {
		f.starters.Go(func() {
			if r, err := f.listener.Expect(ctx, h.place); err == nil {
				crew.Up(h.place)
				m.tell(ctx, news{of: h, agent: r})
			}
		})
	}
	return nil
}

// crew starts the agents of other hosts, and tells what becomes of them.
func (m *muster) crew(ctx context.Context, far []*candidate) *starter.Crew {
	of := make(map[int]*candidate)
	c := &starter.Crew{How: m.How, Self: m.Self, Order: m.Order}
	for _, h := range far {
		of[h.place] = h
		name := h.Name
		if h.User != "" {
			name = h.User + "@" + name
		}
		c.Agents = append(c.Agents, starter.Agent{Number: h.place, Host: name})
	}
	// The crew doesn't go on before these have returned, and so the order of news is kept.
	c.Greeted = func(n int) { of[n].greeted.CompareAndSwap(0, int64(time.Since(m.begun))) }
	c.Trouble = func(n int, why error) { m.tell(ctx, news{of: of[n], why: why, again: true}) }
	c.Lost = func(n int, why error) { m.tell(ctx, news{of: of[n], why: why}) }
	c.Line = func(n int, text string) {
		name := "an agent"
		if h := of[n]; h != nil {
			name = h.Name
		}
		m.Note(name + ": " + text)
	}
	return c
}

// phases says how long it took until the hosts that processes run on had answered, and until their
// agents had dialled. A host that answered to another one counts from when its agent dialled.
func (m *muster) phases() (p Phases) {
	for _, h := range m.all {
		if h.agent == nil || h.spare || h.place == m.Here {
			continue
		}
		greeted := time.Duration(h.greeted.Load())
		if greeted == 0 {
			greeted = h.came
		}
		p.Connect, p.Agents = max(p.Connect, greeted), max(p.Agents, h.came)
	}
	return p
}
