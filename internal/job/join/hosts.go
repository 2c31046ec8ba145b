package join

import (
	"os"
	"runtime"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// processHosts says which processes of the job share this process's host.
type processHosts struct {
	self  proto.Proc
	procs int
	hosts []int32 // of each process, nil if unknown
}

func (j *Job) processHosts() processHosts {
	return processHosts{j.self, j.layout.Procs(), j.hosts}
}

// near says whether a process is on this host, as far as is known.
func (h processHosts) near(p proto.Proc) bool {
	return int(p) < len(h.hosts) && int(h.self) < len(h.hosts) && h.hosts[p] == h.hosts[h.self]
}

// count is how many processes of the job this host has: all, if that isn't known.
func (h processHosts) count() int {
	if int(h.self) >= len(h.hosts) {
		return h.procs
	}
	n := 0
	for p := range h.hosts {
		if h.near(proto.Proc(p)) {
			n++
		}
	}
	return n
}

// crowd is how many processes of the job share each core of this host, rounded up: above 1 it is
// oversubscribed.
func (h processHosts) crowd() (int, error) {
	cores, err := env.Positive(env.Cores, runtime.NumCPU())
	if err != nil {
		return 0, err
	}
	return (h.count() + cores - 1) / cores, nil
}

// coresAreSet says whether the launcher has told all processes of this host the same number of
// cores.
func coresAreSet() bool { return os.Getenv(env.Cores) != "" }
