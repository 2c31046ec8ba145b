// Package fleet brings up the agents of a job: it starts one on each host (package starter) or
// takes those that something else has started (join.go), waits until they have dialled the console
// (package remote), replaces hosts that don't come up by spare ones, and then says which process
// runs where (package placement), because only then it is known which hosts are one machine.
//
// # Invariants
//
//   - Start returns within its limit and some seconds. If it returns an error no agent is left.
//   - A job that can't be placed is refused before anything is started.
//   - Each host that doesn't come up is told in one line, with what it said.
//
// # Limits
//
// A spare host that is started here and comes up after the others and a grace period isn't used.
package fleet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/hosts"
	"banyan/internal/job/launcher"
	"banyan/internal/job/placement"
	"banyan/internal/job/starter"
	"banyan/internal/job/starter/stage"
)

// DefaultLimit is how long hosts may take to come up.
const DefaultLimit = 60 * time.Second

// stageLimit is how long they may take if files are sent to them.
const stageLimit = 5 * time.Minute

// grace is how long spare hosts may take longer than the others.
const grace = 3 * time.Second

// endLimit bounds the wait for the starters' commands when the job is over.
const endLimit = 3 * time.Second

// Config says which hosts a job may use, and what it needs. Hosts, Here, Job and Note must be set.
type Config struct {
	Hosts  hosts.List
	Here   int // this machine's place among the hosts, -1 if it is none of them
	Spares int // the last of the hosts: they wait
	// Min is how many hosts are enough, besides spares, if others don't come up. 0: all.
	Min int
	All bool // hosts that no process needs come up, too, for replacements

	Job   placement.Job // without hosts
	How   starter.How
	Self  string        // the path of banyan
	Order starter.Order // Dir, Umask and Files
	Stage bool          // files are sent to hosts that don't have them, or other ones
	// Witness, if given, gets an agent without processes: see Fleet.Witness.
	Witness *hosts.Host
	// Join, if given, says where agents that something else starts come to; How, Self and Order
	// mean nothing then. The hosts are the agents from number 0 on, and are renamed when they come.
	Join *Join

	Limit time.Duration     // for hosts to come up; 0: DefaultLimit
	Note  func(text string) // is told what the user must know; several goroutines may call it
}

// Fleet is the agents of a job.
type Fleet struct {
	Agents []agent.Agent
	Places []int // the agent of each process
	Phases Phases

	config   Config
	key      secure.Key            // the job's
	running  context.Context       // ends with the job
	adding   sync.Mutex            // hosts are added to the job, and told to the launcher, in the same order
	homes                          // its lock is also of next
	next     int                   // the number of the next agent that is started
	witness  *remote.Remote        // nil: there is none
	placed   chan struct{}         // closed when the first processes have their places
	arrivals chan launcher.Arrival // of hosts, in the order in which they are added to the job
	listener *remote.Listener      // nil: all is here
	files    *stage.Server         // nil: none are sent
	cancel   context.CancelFunc
	starters sync.WaitGroup
}

// Phases are how long the parts of Start took, from its begin on.
type Phases struct {
	Connect time.Duration // until the hosts had answered that processes need
	Agents  time.Duration // until their agents had dialled
}

// Start brings up the agents. If the job can't be placed the error is a *placement.ImpossibleError.
func Start(ctx context.Context, c Config) (f *Fleet, err error) {
	if c.Limit == 0 && c.Stage {
		c.Limit = stageLimit
	}
	c.Limit = cmp.Or(c.Limit, DefaultLimit)
	c.Job.Hosts = describe(c.Hosts, c.Spares)
	p, err := c.Job.Place()
	if err != nil {
		return nil, err
	}
	m := &muster{Config: c, ask: make(chan news), over: make(chan struct{}), begun: time.Now()}
	m.all = candidates(&c, p.Host)
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f = &Fleet{config: c, running: running, next: len(c.Hosts), homes: homes{note: c.Note}, cancel: cancel, placed: make(chan struct{}), arrivals: make(chan launcher.Arrival)}
	defer func() {
		if err != nil {
			f.Close()
			f = nil
		}
	}()
	if err := m.begin(running, f); err != nil {
		return f, err
	}
	limited, stop := context.WithTimeout(ctx, c.Limit)
	defer stop()
	if err := m.wait(limited); err != nil {
		return f, err
	}
	f.Phases = m.phases()
	if err := f.place(m); err != nil {
		return f, err
	}
	f.startWitness(limited)
	return f, nil
}

// candidates are the hosts that are to come up. places are the hosts of processes if all do. Where
// fewer are enough any may be missing, so all are asked.
func candidates(c *Config, places []int) (all []*candidate) {
	for i := range c.Hosts {
		h := &candidate{Host: c.Hosts[i], place: i, spare: c.Job.Hosts[i].Spare}
		if h.spare || c.All || c.Min > 0 || c.Join != nil || slices.Contains(places, i) {
			all = append(all, h)
		}
	}
	return all
}

// describe is what placement must know of the hosts.
func describe(list hosts.List, spares int) (all []placement.Host) {
	for i, h := range list {
		all = append(all, placement.Host{Name: h.Name, Slots: h.Slots, Max: h.Max, Rack: h.Rack, Zone: h.Zone, Spare: i >= len(list)-spares})
	}
	return all
}

// place says which process runs where.
func (f *Fleet) place(m *muster) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Agents, f.job = nil, m.Job
	f.job.Hosts = nil
	index := make(map[int]int) // from places in the list to agents
	known := describe(m.Hosts, 0)
	for _, h := range m.all {
		if h.agent == nil {
			continue
		}
		x := known[h.place]
		if m.Join != nil {
			x = joined(h.agent.Host())
			x.Name = f.unique(x.Name)
		}
		x.Kernel, x.Spare = h.agent.Host().Boot, h.spare
		index[h.place] = len(f.Agents)
		f.Agents, f.job.Hosts = append(f.Agents, h.agent), append(f.job.Hosts, x)
	}
	f.job.Parts = slices.Clone(f.job.Parts)
	for i, p := range f.job.Parts {
		if p.Hosts == nil {
			continue
		}
		own := []int{}
		for _, place := range p.Hosts {
			if k, up := index[place]; up {
				own = append(own, k)
			}
		}
		f.job.Parts[i].Hosts = own
	}
	p, err := f.job.Place()
	if err != nil {
		return err
	}
	for _, text := range p.Notes {
		f.note(text)
	}
	f.Places, f.last = p.Host, slices.Clone(p.Host)
	close(f.placed)
	return nil
}

// Names are what the job calls the agents' hosts.
func (f *Fleet) Names() (all []string) {
	for _, h := range f.job.Hosts[:len(f.Agents)] {
		all = append(all, h.Name)
	}
	return all
}

// Racks are what the agents' hosts fail with, for people: zone and rack, empty where neither is
// known.
func (f *Fleet) Racks() (all []string) {
	for _, h := range f.job.Hosts[:len(f.Agents)] {
		all = append(all, strings.TrimSpace(h.Zone+" "+h.Rack))
	}
	return all
}

// Arrivals are the hosts that are added while the job runs; see launcher.Config.
func (f *Fleet) Arrivals() <-chan launcher.Arrival { return f.arrivals }

// Close ends all agents, and what has started them.
func (f *Fleet) Close() {
	if f.listener != nil {
		f.listener.Close()
	}
	if f.files != nil {
		f.files.Close()
	}
	for _, a := range f.Agents {
		if _, far := a.(*remote.Remote); !far {
			a.Close()
		}
	}
	late := time.AfterFunc(endLimit, f.cancel)
	if f.Places == nil { // nothing has begun that could end by itself
		f.cancel()
	}
	f.starters.Wait()
	late.Stop()
	f.cancel()
}

// names are the names of hosts.
func names(all []*candidate) string {
	var list []string
	for _, h := range all {
		list = append(list, h.Name)
	}
	return strings.Join(list, ", ")
}
