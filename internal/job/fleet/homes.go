package fleet

import (
	"fmt"
	"slices"
	"sync"

	"banyan/internal/job/placement"
	"banyan/internal/proto"
)

// homes says where replacements go.
type homes struct {
	mu   sync.Mutex
	job  placement.Job // its hosts are those of the agents
	last []int
	note func(text string)
}

// Rehome is the agent for the replacement of a process; see launcher.Config.
func (h *homes) Rehome(id proto.Proc, on []int, living []bool) (agent int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, now := h.known(on, living)
	agent, note, err := known.Replacement(id, now)
	if err != nil {
		return 0, false
	}
	if note != "" {
		h.note(fmt.Sprintf("the replacement of rank %d runs on %s: %s", h.job.Layout.Rank(id), h.job.Hosts[agent].Name, note))
	}
	return agent, true
}

// Evacuate is the agents for processes that leave a host; see launcher.Config.
func (h *homes) Evacuate(all []proto.Proc, on []int, living []bool) (agents []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, now := h.known(on, living)
	return known.Evacuation(all, now)
}

// known is the job with the hosts of which the launcher knows, and where processes are. The lock is
// held.
func (h *homes) known(on []int, living []bool) (placement.Job, placement.Running) {
	known := h.job
	known.Hosts = known.Hosts[:len(living)]
	for id, host := range on {
		if host >= 0 {
			h.last[id] = host
		}
	}
	return known, placement.Running{At: on, Last: h.last, Alive: living}
}

// Homes is what another launcher must know to choose the homes of replacements as this one.
type Homes struct {
	Hosts                      []placement.Host
	Parts                      []placement.Part
	AllowShared, Oversubscribe bool
	Last                       []int
}

// Homes are those of the job now.
func (h *homes) Homes() Homes {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := &h.job
	return Homes{slices.Clone(j.Hosts), j.Parts, j.AllowShared, j.Oversubscribe, slices.Clone(h.last)}
}
