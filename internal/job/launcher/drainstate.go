package launcher

import (
	"fmt"
	"slices"
	"time"

	"banyan/internal/proto"
)

// A drain goes on when another launcher takes over. Who asked for it has lost the connection, and
// may ask again: that waits for the same drain.

// DrainState is a drain that is under way.
type DrainState struct {
	Host  int
	Force bool
	Until time.Time    // it is late then, by the clock of the launcher that began it; zero: never
	Moved []proto.Proc // the processes that ran there
}

// drainStates are the drains that are under way, by host.
func (j *job) drainStates() (all []DrainState) {
	for host := range j.hosts.found {
		if d := j.hosts.drains[host]; d != nil {
			all = append(all, DrainState{Host: host, Force: d.force, Until: d.until, Moved: slices.Clone(d.moved)})
		}
	}
	return all
}

func (s *State) checkDrains() error {
	for _, d := range s.Drains {
		strange := func(p proto.Proc) bool { return p < 0 || int(p) >= len(s.Slots) }
		if d.Host < 0 || d.Host >= len(s.Hosts) || slices.ContainsFunc(d.Moved, strange) {
			return fmt.Errorf("the job's state makes no sense: host %d of %d is drained of the processes %v", d.Host, len(s.Hosts), d.Moved)
		}
	}
	return nil
}

// resumeDrains goes on with the drains of the launcher before.
func (j *job) resumeDrains(s *State) {
	for _, x := range s.Drains {
		if j.ending || j.hosts.left[x.Host] || j.report.Hosts[x.Host].Lost != nil {
			continue
		}
		d := &drain{host: x.Host, name: j.hosts.name(x.Host), force: x.Force, until: x.Until, moved: x.Moved, over: make(chan struct{})}
		j.hosts.drains[x.Host] = d
		if !d.until.IsZero() {
			time.AfterFunc(time.Until(d.until), func() { j.post(func() { d.late = true }) })
		}
	}
	j.watchDrains()
}
