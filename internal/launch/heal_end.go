package launch

import (
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/vacancy"
)

// stopHealing says that the job is about to end: nobody needs newcomers any more.
func (j *job) stopHealing() {
	h := j.heal
	if h == nil {
		return
	}
	notes := h.board.Over()
	if a := h.now; a != nil && !a.Committed() {
		j.doom(vacancy.End)
		j.failedToHeal(a)
	}
	for _, note := range notes {
		j.warn(note)
	}
}

// doomForGood ends the present attempt for a reason that any other with this donor would have,
// too.
func (j *job) doomForGood(why string) {
	if a := j.heal.now; !a.doomed {
		a.Hopeless = true
		j.doom(why)
	}
}

// reapNewcomer ends a newcomer that is left when the job is over.
func (j *job) reapNewcomer() {
	if j.heal == nil || j.heal.now == nil || j.heal.now.Committed() {
		return
	}
	p := j.heal.now.p
	p.signal(unix.SIGKILL)
	for deadline := time.Now().Add(killDelay); !p.isReaped() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.settle(false)
}
