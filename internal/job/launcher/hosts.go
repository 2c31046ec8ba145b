package launcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
)

// Rehome chooses the agent that starts the replacement of a process. on is the agent of each
// process that runs, by process number, -1 for those that don't; living says which agents' hosts
// aren't lost. ok is false if none will do now. A host that runs another replica of the rank is
// refused unless Config.AllowSharedHost is set.
type Rehome func(id proto.Proc, on []int, living []bool) (agent int, ok bool)

// Evacuate chooses the agents of processes that all have to leave a host: as many as can find one
// together, -1 for the others. on and living are as for Rehome.
type Evacuate func(all []proto.Proc, on []int, living []bool) (agents []int)

// Arrival is a host that is added to a job that runs. Agents are numbered in the order in which
// they come, after the first ones.
type Arrival struct {
	Agent agent.Agent
	Name  string // what the host is called
}

// checkHosts refuses places that don't fit the job.
func (p *plan) checkHosts() error {
	switch {
	case len(p.Agents) == 0 && p.Places != nil:
		return errors.New("processes have places on hosts, and there are no agents")
	case p.Names != nil && len(p.Names) != len(p.Agents):
		return fmt.Errorf("there are %d agents, and names of %d of them", len(p.Agents), len(p.Names))
	case p.Places == nil:
		p.Places = make([]int, p.size)
	case len(p.Places) != p.size:
		return fmt.Errorf("there are %d processes, and places of %d of them", p.size, len(p.Places))
	}
	for id, a := range p.Places {
		if a < 0 || a >= max(1, len(p.Agents)) {
			return fmt.Errorf("the place of process %d is host %d of %d", id, a, len(p.Agents))
		}
	}
	return nil
}

// hosts are those of a job, each by the number of its agent. The loop owns them.
type hosts struct {
	*plan
	agents []agent.Agent
	found  []agent.Host
	on     [][]*process       // of each host: processes whose ends haven't come yet
	coming map[proto.Proc]int // the hosts of replacements that are being started
	missed [][]*process       // those of them whose ends never come, because the host is lost
	left   []bool             // hosts that were drained; their agents have ended
	drains map[int]*drain
}

func newHosts(p *plan, agents []agent.Agent) *hosts {
	h := &hosts{plan: p, agents: slices.Clip(agents), on: make([][]*process, len(agents)), missed: make([][]*process, len(agents)),
		left: make([]bool, len(agents)), drains: make(map[int]*drain), coming: make(map[proto.Proc]int)}
	for i, a := range agents {
		h.found = append(h.found, a.Host())
		if p.Names != nil {
			h.found[i].Name = p.Names[i]
		}
	}
	return h
}

// add adds a host, and returns its number.
func (h *hosts) add(a Arrival) int {
	found := a.Agent.Host()
	found.Name = a.Name
	h.agents, h.found = append(h.agents, a.Agent), append(h.found, found)
	h.on, h.missed, h.left = append(h.on, nil), append(h.missed, nil), append(h.left, false)
	return len(h.agents) - 1
}

// perCore is how many processes of the job each core has, at the host where that is most.
func (h *hosts) perCore() int {
	procs := make([]int, len(h.found))
	for _, host := range h.Places {
		procs[host]++
	}
	most := 0
	for host, n := range procs {
		if cores := len(h.found[host].Cores); cores > 0 {
			most = max(most, (n+cores-1)/cores)
		}
	}
	return most
}

// several says whether the job has more hosts than one.
func (h *hosts) several() bool { return len(h.agents) > 1 }

// name is what a host is called.
func (h *hosts) name(host int) string { return h.found[host].Name }

// reason is why a host is lost, in the words of its agent, if that has any.
func (h *hosts) reason(host int) string {
	if a, ok := h.agents[host].(interface{ Reason() string }); ok {
		return a.Reason()
	}
	return ""
}

// find is the number of a host of the job.
func (h *hosts) find(name string) (int, error) {
	var names []string
	living := h.living()
	was := ""
	for i, f := range h.found {
		switch {
		case living[i] && f.Name == name:
			return i, nil
		case living[i]:
			names = append(names, f.Name)
		case f.Name == name && h.left[i]:
			was = "has left the job"
		case f.Name == name:
			was = "is lost"
		}
	}
	if was != "" {
		return 0, fmt.Errorf("%s %s", name, was)
	}
	return 0, fmt.Errorf("the job has no host %s; it has %s", name, strings.Join(names, ", "))
}

// living says which hosts aren't lost, and haven't left.
func (h *hosts) living() []bool {
	living := make([]bool, len(h.agents))
	for i, a := range h.agents {
		select {
		case <-a.Lost():
		default:
			living[i] = !h.left[i]
		}
	}
	return living
}

// began notes that a process runs, ended that its end has come.
func (h *hosts) began(p *process) { h.on[p.host] = append(h.on[p.host], p) }

func (h *hosts) ended(p *process) {
	h.on[p.host] = slices.DeleteFunc(h.on[p.host], func(q *process) bool { return q == p })
}

// expect notes that a replacement is being started on a host, unexpect that it isn't any more.
func (h *hosts) expect(id proto.Proc, host int) { h.coming[id] = host }

func (h *hosts) unexpect(id proto.Proc) { delete(h.coming, id) }

// load is how many processes a host has, with those that are being started.
func (h *hosts) load(host int) int {
	n := len(h.on[host])
	for _, at := range h.coming {
		if at == host {
			n++
		}
	}
	return n
}

// rehome is the host for the replacement of a process that was on another, or on the same one. It
// is never one on which another replica of the rank runs, unless that is allowed.
func (h *hosts) rehome(id proto.Proc, was int) (host int, ok bool) {
	if h.drains[was] != nil {
		all := []*process{{id: id, host: was}}
		for _, p := range h.on[was] {
			if p.id != id {
				all = append(all, p)
			}
		}
		host = h.homes(all)[0]
		return host, host >= 0
	}
	on, living := h.now()
	choose := h.Rehome
	if choose == nil {
		choose = func(id proto.Proc, on []int, living []bool) (int, bool) { return h.fewest(id, was, on, living) }
	}
	host, ok = choose(id, on, living)
	return host, ok && host >= 0 && host < len(living) && living[host] && !h.refused(id, host, on)
}

// now says on which host each process runs or is being started, -1 for those that don't run, and
// which hosts can have more.
func (h *hosts) now() (on []int, open []bool) {
	on = slices.Repeat([]int{-1}, h.size)
	for i := range h.on {
		for _, p := range h.on[i] {
			on[p.id] = i
		}
	}
	for id, host := range h.coming {
		on[id] = host
	}
	open = h.living()
	for i := range open {
		open[i] = open[i] && h.drains[i] == nil
	}
	return on, open
}

// homes are hosts for processes that have to leave theirs, -1 for those that find none.
func (h *hosts) homes(all []*process) []int {
	on, open := h.now()
	ids := make([]proto.Proc, len(all))
	for i, p := range all {
		ids[i] = p.id
	}
	choose := h.Evacuate
	if choose == nil {
		choose = h.oneByOne
	}
	found := choose(ids, on, open)
	for i, host := range found {
		if host < 0 || host >= len(open) || !open[host] || h.refused(ids[i], host, on) {
			found[i] = -1
		}
	}
	return found
}

// oneByOne is the Evacuate of jobs that have none.
func (h *hosts) oneByOne(all []proto.Proc, on []int, living []bool) (found []int) {
	for _, id := range all {
		was := max(on[id], 0)
		host, ok := h.fewest(id, was, on, living)
		if !ok {
			host = -1
		}
		found = append(found, host)
	}
	return found
}

// refused says whether a process may not be on a host, because another replica of its rank is
// there.
func (h *hosts) refused(id proto.Proc, host int, on []int) bool {
	if h.AllowSharedHost || !h.several() {
		return false
	}
	rank := h.layout.Rank(id)
	for k := range h.layout.Degree(rank) {
		if q := h.layout.Proc(rank, k); q != id && on[q] == host {
			return true
		}
	}
	return false
}

// fewest is the Rehome of jobs that have none: the replacement stays on its predecessor's host, or
// goes to the one with the fewest processes.
func (h *hosts) fewest(id proto.Proc, was int, on []int, living []bool) (host int, ok bool) {
	if living[was] && !h.refused(id, was, on) {
		return was, true
	}
	best := -1
	for i := range living {
		if living[i] && !h.refused(id, i, on) && (best < 0 || h.load(i) < h.load(best)) {
			best = i
		}
	}
	return best, best >= 0
}

// report is what the report says of the hosts.
func (h *hosts) report() []HostReport {
	all := make([]HostReport, len(h.found))
	for i, f := range h.found {
		all[i] = HostReport{Name: f.Name, Cores: len(f.Cores), Processes: []int{}}
	}
	for id, host := range h.Places {
		all[host].Processes = append(all[host].Processes, id)
	}
	return all
}
