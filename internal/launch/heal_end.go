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
	if h.now != nil && !h.now.committed {
		j.doom("the job has come to its end")
	}
	for _, slot := range h.waiting {
		if rank := j.ledger.Rank(slot); !j.anyHealable(rank) {
			j.warn(fmt.Sprintf("rank %d: replica %d wasn't replaced: no other has come to a safe point that could be used", rank, j.ledger.Replica(slot)))
		}
	}
}

// anyHealable says whether a live replica of a rank has come to a safe point.
func (j *job) anyHealable(rank proto.Rank) bool {
	for k := range j.layout.Degree(rank) {
		if j.heal.healable[j.layout.Proc(rank, k)] {
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
