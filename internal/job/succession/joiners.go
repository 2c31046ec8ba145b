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

// joiners has hosts take part that are added at this launcher, before it hears of them.
func (s *Successor) joiners(from <-chan launcher.Arrival) <-chan launcher.Arrival {
	to := make(chan launcher.Arrival)
	go func() {
		for {
			select {
			case a := <-from:
				if r, far := a.Agent.(*remote.Remote); far {
					s.introduce(r)
				}
				select {
				case to <- a:
				case <-s.over:
					return
				}
			case <-s.over:
				return
			}
		}
	}()
	return to
}

// introduce has a host take part.
func (s *Successor) introduce(r *remote.Remote) {
	ports, err := r.Open()
	if err != nil {
		slog.Debug("succession: an agent doesn't open", "agent", r.Number(), "err", err)
	}
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
