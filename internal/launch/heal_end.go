package launch

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// stopHealing says that the job is about to end: nobody needs newcomers any more.
func (j *job) stopHealing() {
	h := j.heal
	if h == nil || h.over {
		return
	}
	h.over = true
	const end = "the job has come to its end"
	if a := h.now; a != nil && !a.committed {
		j.doom(end)
		j.failedToHeal(a.p.id, a, a.why)
	}
	for _, slot := range h.waiting {
		why := end
		switch rank := j.ledger.Rank(slot); {
		case j.any(h.healable, rank):
		case j.any(h.barred, rank):
			continue // it was said
		default:
			why = "no other has come to a safe point that could be used"
		}
		j.warn(fmt.Sprintf("rank %d: replica %d wasn't replaced: %s", j.ledger.Rank(slot), j.ledger.Replica(slot), why))
	}
}

// doomForGood ends the present attempt for a reason that any other with this donor would have,
// too.
func (j *job) doomForGood(why string) {
	if a := j.heal.now; !a.doomed {
		a.hopeless = true
		j.doom(why)
	}
}

// bar says that nobody can have a donor's state, now or later.
func (j *job) bar(donor *process) {
	delete(j.heal.healable, donor.id)
	j.heal.barred[donor.id] = true
}

// any says whether a replica of a rank is in a set.
func (j *job) any(set map[proto.Proc]bool, rank proto.Rank) bool {
	for k := range j.layout.Degree(rank) {
		if set[j.layout.Proc(rank, k)] {
			return true
		}
	}
	return false
}

// reapNewcomer ends a newcomer that is left when the job is over.
func (j *job) reapNewcomer() {
	if j.heal == nil || j.heal.now == nil || j.heal.now.committed {
		return
	}
	p := j.heal.now.p
	p.signal(unix.SIGKILL)
	for deadline := time.Now().Add(killDelay); !p.isReaped() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	p.settle(false)
}
