package replication

import (
	"fmt"
	"strconv"
	"time"
)

// Setting is how the same work is run.
type Setting uint8

// Settings.
const (
	// Alone is one job without replicas.
	Alone Setting = iota
	// Beside is as many jobs without replicas as others have replicas, side by side.
	Beside
	// Parallel and Mirror are one job with replicas.
	Parallel
	Mirror
	settings
)

func (s Setting) String() string {
	return [...]string{"alone", "side by side", "parallel", "mirror"}[s]
}

// DefaultLimit is enough for all jobs of the project's own programs.
const DefaultLimit = 60 * time.Second

// jobs are what a setting starts at once.
func (b *Bench) jobs(s Setting, ranks int, flags []string, program ...string) []job {
	run := append([]string{b.Banyan, "run", "--timeout", b.Limit.String(), "--bind-to", "core", "-n", strconv.Itoa(ranks)}, flags...)
	switch s {
	case Parallel, Mirror:
		run = append(run, "--replicas", strconv.Itoa(b.Replicas), "--protocol", s.String())
		return []job{{command: append(run, program...)}}
	case Alone:
		return []job{{command: append(run, program...)}}
	}
	// Who believes that all cores are its own gives them up later than it should. So these jobs are told
	// what their share is; otherwise they would be slower, and replication look better than it is.
	share := fmt.Sprint("BANYAN_CORES=", max(1, len(b.cores)/b.Replicas))
	var all []job
	for k := range b.Replicas {
		j := job{command: append(append(run[:len(run):len(run)], "env", share), program...)}
		for i := range ranks { // where replica k of each rank is
			j.cores = append(j.cores, b.cores[(k*ranks+i)%len(b.cores)])
		}
		all = append(all, j)
	}
	return all
}
