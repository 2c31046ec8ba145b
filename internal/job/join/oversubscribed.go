package join

import (
	"runtime"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// oversubscribed says whether the processes on this host are more than its cores.
func (j *Job) oversubscribed() (bool, error) {
	cores, err := env.Positive(env.Cores, runtime.NumCPU())
	return j.neighbours() > cores, err
}

// neighbours is how many processes of the job this host has, with this one: all, if
// that isn't known.
func (j *Job) neighbours() int {
	if int(j.self) >= len(j.hosts) {
		return j.layout.Procs()
	}
	n := 0
	for _, h := range j.hosts {
		if h == j.hosts[j.self] {
			n++
		}
	}
	return n
}

// near tells whether a process is on this host, as far as is known.
func (j *Job) near(p proto.Proc) bool {
	return int(p) < len(j.hosts) && int(j.self) < len(j.hosts) && j.hosts[p] == j.hosts[j.self]
}
