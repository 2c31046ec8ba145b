package fleet

import (
	"os"
	"strings"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
)

// Key is the job's.
func (f *Fleet) Key() secure.Key { return f.key }

// Witness is an agent on a machine where no process runs. nil: there is none.
func (f *Fleet) Witness() *remote.Remote { return f.witness }

// Machines is how many machines the job has, with this one and the witness's.
func (f *Fleet) Machines() int {
	all := map[string]bool{thisBoot(): true}
	for _, a := range f.Agents {
		all[a.Host().Boot] = true
	}
	if f.witness != nil {
		all[f.witness.Host().Boot] = true
	}
	return len(all)
}

// Domains numbers what fails together: the hosts of a rack, or else a machine.
type Domains struct {
	Here int32 // this machine's
	of   map[agent.Agent]int32
}

// Of is that of an agent.
func (d Domains) Of(a agent.Agent) int32 { return d.of[a] }

// Domains are those of all agents that the job has begun with. Later ones have none of their own.
func (f *Fleet) Domains() Domains {
	f.mu.Lock()
	defer f.mu.Unlock()
	numbers := make(map[string]int32)
	number := func(name string) int32 {
		if _, known := numbers[name]; !known {
			numbers[name] = int32(len(numbers))
		}
		return numbers[name]
	}
	d := Domains{of: make(map[agent.Agent]int32)}
	here := "machine " + thisBoot()
	for i, a := range f.Agents {
		name := "machine " + a.Host().Boot
		if h := f.job.Hosts[i]; h.Rack != "" {
			if name == here {
				here = "rack " + h.Zone + " " + h.Rack
			}
			name = "rack " + h.Zone + " " + h.Rack
		}
		d.of[a] = number(name)
	}
	d.Here = number(here)
	if f.witness != nil {
		d.of[f.witness] = number("machine " + f.witness.Host().Boot)
	}
	return d
}

// thisBoot is this kernel's boot id.
func thisBoot() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // empty: a machine of its own
	return strings.TrimSpace(string(id))
}
