package succession

import (
	"log/slog"
	"maps"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/launcher"
	"banyan/internal/proto/steward"
)

// reserved is how many numbers a launcher has for agents that are added: those that it has given,
// and that no state has, aren't given again by the next launcher.
const reserved = 64

// firstNew is the first number of those.
func firstNew(highest int, term uint64) int { return highest + 1 + reserved*int(term) }

// joining has hosts take part that are added, before the launcher hears of them. Each waits until
// its agent has opened, which may be until its host is lost: so none waits for another one's. They
// are introduced, and told to the launcher, in one order, because both number them by it.
func joining(from <-chan launcher.Arrival, over <-chan struct{}, open func(launcher.Arrival) (introduce func())) <-chan launcher.Arrival {
	type opened struct {
		launcher.Arrival
		introduce func()
	}
	to, ready := make(chan launcher.Arrival), make(chan opened)
	go func() {
		for {
			select {
			case a, more := <-from:
				if !more {
					from = nil
					continue
				}
				go func() {
					select {
					case ready <- opened{a, open(a)}:
					case <-over:
					}
				}()
			case x := <-ready:
				x.introduce()
				select {
				case to <- x.Arrival:
				case <-over:
					return
				}
			case <-over:
				return
			}
		}
	}()
	return to
}

// opening opens the agent of a host that is added, and returns what introduces it to the others.
// One that doesn't answer is introduced all the same: it is lost, or will be.
func opening(a launcher.Arrival, introduce func(*remote.Remote, wire.Ports)) func() {
	r, far := a.Agent.(*remote.Remote)
	if !far {
		return func() {}
	}
	ports, err := r.Open()
	if err != nil {
		slog.Debug("succession: an agent doesn't open", "agent", r.Number(), "err", err)
	}
	return func() { introduce(r, ports) }
}

// joiners has hosts take part that are added at this launcher.
func (s *Successor) joiners(from <-chan launcher.Arrival) <-chan launcher.Arrival {
	return joining(from, s.over, func(a launcher.Arrival) func() { return opening(a, s.introduce) })
}

// introduce has a host take part whose agent has opened.
func (s *Successor) introduce(r *remote.Remote, ports wire.Ports) {
	s.mu.Lock()
	h := s.nextHost
	s.nextHost++
	others := maps.Clone(s.here)
	s.here[h], s.ports[h] = r, ports
	s.legacy.Agents = append(s.legacy.Agents, member{h, r.Number(), r.Instance()})
	c := charter{Self: h, Voters: s.legacy.Voters, Ledger: s.legacy.First, Ports: maps.Clone(s.ports), Files: s.legacy.Files,
		Job: s.Will.Info.Name, Error: s.Will.Error, Batch: s.Will.Batch}
	s.say(word{Met: additions{h: ports}})
	s.mu.Unlock()
	for _, other := range others {
		other.Meet(encode(additions{h: ports}))
	}
	r.Begin(encode(c))
}

// highest are the highest numbers that are known of hosts and of agents.
func highest(hosts []steward.HostEntry, ports map[steward.Host]wire.Ports, agents []member) (host, agent int) {
	for _, x := range hosts {
		host = max(host, int(x.Host))
	}
	for h := range ports {
		host = max(host, int(h))
	}
	for _, a := range agents {
		host, agent = max(host, int(a.Host)), max(agent, a.Number)
	}
	return host, agent
}
