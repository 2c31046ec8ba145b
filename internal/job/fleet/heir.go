package fleet

import (
	"context"
	"slices"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/launcher"
	"banyan/internal/job/placement"
	"banyan/internal/job/starter"
	"banyan/internal/layout"
)

// Estate is what another launcher must know to add hosts to the job. It has no secret.
type Estate struct {
	Homes Homes
	How   starter.How
	Self  string
	Order starter.Order
	Joins bool // agents come by themselves
}

// Estate is that of the job now.
func (f *Fleet) Estate() Estate {
	order := f.config.Order
	order.Stage, order.Connect = nil, nil // they are this process's
	return Estate{f.Homes(), f.config.How, f.config.Self, order, f.config.Join != nil}
}

// Inherit makes the fleet of a launcher that takes over: it adds hosts, and says where replacements
// go. The launcher before knew so many hosts: one that it was about to hear of isn't there. Agents
// of hosts that are added get numbers from first on, and come to the listener. note is told what
// the user must know.
func (e *Estate) Inherit(l *remote.Listener, key secure.Key, known, first int, lay layout.Layout, note func(text string)) *Fleet {
	running, cancel := context.WithCancel(context.Background())
	f := &Fleet{
		config: Config{How: e.How, Self: e.Self, Order: e.Order, Limit: DefaultLimit, Note: note}, key: key, running: running, cancel: cancel, next: first,
		homes: homes{note: note, last: slices.Clone(e.Homes.Last), job: placement.Job{
			Layout: lay, Hosts: slices.Clone(e.Homes.Hosts[:min(known, len(e.Homes.Hosts))]), Parts: e.Homes.Parts, AllowShared: e.Homes.AllowShared, Oversubscribe: e.Homes.Oversubscribe,
		}},
		placed: make(chan struct{}), arrivals: make(chan launcher.Arrival), listener: l,
	}
	f.Places = f.last
	if e.Joins {
		f.config.Join = new(Join)
	}
	close(f.placed)
	return f
}
