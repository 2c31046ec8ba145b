package remote

import (
	"os"
	"slices"
	"strings"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/proto"
)

// bootID is this kernel's boot id; empty if it can't be read.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// when is a time of the agent's clock by ours. The quickest of the last requests tells best how
// the clocks differ.
func (r *Remote) when(at proto.Time) time.Time {
	now := deadline.Now()
	return time.Now().Add(-time.Duration(max(0, now-(at+r.ahead()))))
}

// there is a time of our clock by the agent's.
func (r *Remote) there(at proto.Time) proto.Time { return at - r.ahead() }

// ahead is how far our clock is ahead of the agent's: not at all if it is the same, else by the
// quickest request.
func (r *Remote) ahead() proto.Time {
	if r.boot != "" && r.boot == r.host.Boot {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Min(r.delays) // a Hello is a request
}
