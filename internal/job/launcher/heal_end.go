package launcher

import (
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// stopHealing says that the job is about to end: nobody needs replacements any more.
func (j *job) stopHealing() {
	j.heals(func(h *recovery.Machine, _ proto.Time, out *actions) { h.Over(out) })
}

// reapReplacement ends a replacement that is left when the job is over.
func (j *job) reapReplacement() {
	if j.heal == nil || j.heal.replacement == nil {
		return
	}
	p := j.heal.replacement
	p.signal(unix.SIGKILL)
	for deadline := time.Now().Add(killDelay); !p.isReaped() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.settle(false)
	j.endReplacement(unix.WaitStatus(unix.SIGKILL))
}
