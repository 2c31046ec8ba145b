package launcher

import (
	"strings"

	"banyan/internal/job/console"
)

// told is what the job's server says of it.
type told struct {
	processes, hosts int
	ending           bool
}

// tellStatus tells the job's server how the job is, if that has changed.
func (j *job) tellStatus() {
	if j.Requests == nil && j.ancestor == nil || j.told.hosts >= 0 && j.told.processes == j.running && j.told.ending == j.ending {
		return
	}
	j.told = told{processes: j.running, ending: j.ending}
	for _, living := range j.hosts.living() {
		if living {
			j.told.hosts++
		}
	}
	if j.ancestor != nil {
		s := console.Spawned{Number: j.number(), Command: append([]string{j.Program}, j.Args...), Begun: j.started, State: console.Running, Processes: j.told.processes, Hosts: j.told.hosts}
		if j.ending || j.running == 0 {
			s.State = console.Ending
		}
		j.ancestor.Update(func(i *console.Info) { i.SetSpawned(s) })
		return
	}
	j.Requests.Update(func(i *console.Info) {
		i.State, i.Processes, i.Hosts = console.Running, j.told.processes, j.told.hosts
		if j.ending || j.running == 0 {
			i.State = console.Ending
		}
	})
}

// number is that of a spawned job among those of the one that nobody has spawned: 2.1 is the first
// job of its second.
func (c *Config) number() string { return strings.TrimSuffix(c.labels, ".") }

// answerer is who answers requests about what this job spawns; nil: nobody does.
func (c *Config) answerer() *console.Server {
	if c.ancestor != nil {
		return c.ancestor
	}
	return c.Requests
}
