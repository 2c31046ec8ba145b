package launcher

import (
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// stopHealing says that the job is about to end: nobody needs newcomers any more.
func (j *job) stopHealing() {
	j.heals(func(h *recovery.Healing, _ proto.Time, out *actions) { h.Over(out) })
}

// reapNewcomer ends a newcomer that is left when the job is over.
func (j *job) reapNewcomer() {
	if j.heal == nil || j.heal.newcomer == nil {
		return
	}
	p := j.heal.newcomer
	p.signal(unix.SIGKILL)
	for deadline := time.Now().Add(killDelay); !p.isReaped() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.settle(false)
	j.endNewcomer(unix.WaitStatus(unix.SIGKILL))
}
