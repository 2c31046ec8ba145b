package launcher

import "banyan/internal/job/console"

// told is what the job's server says of it.
type told struct {
	processes, hosts int
	ending           bool
}

// tellStatus tells the job's server how the job is, if that has changed.
func (j *job) tellStatus() {
	if j.Requests == nil || j.told.hosts >= 0 && j.told.processes == j.running && j.told.ending == j.ending {
		return
	}
	j.told = told{processes: j.running, ending: j.ending}
	for _, living := range j.hosts.living() {
		if living {
			j.told.hosts++
		}
	}
	j.Requests.Update(func(i *console.Info) {
		i.State, i.Processes, i.Hosts = console.Running, j.told.processes, j.told.hosts
		if j.ending || j.running == 0 {
			i.State = console.Ending
		}
	})
}
