package groupnode

import (
	"context"
	"fmt"
	"time"
)

// recover founds the group anew on an operator's word. It asks the seeds first, and the members of
// the last view: as long as one of them is a member of the group there is nothing to recover.
func (j *joiner) recover(ctx context.Context) error {
	floor := j.memory.token()
	// Two rounds: of names, and of addresses. Both are bounded by handshakeLimit.
	for deadline := time.Now().Add(2 * handshakeLimit); time.Now().Before(deadline); {
		j.ask(ctx, toMeet)
		if j.allAsked() {
			break
		}
		select {
		case r := <-j.results:
			if err := j.take(ctx, r); err != nil {
				return err
			}
			if a := r.answer; a != nil && a.verdict == isMember {
				return fmt.Errorf("%w: %s is a member, in view %d of founding %x: join it, or end it first", ErrExists, r.address, a.number, a.founding.ID)
			} else if a != nil && a.state != nil {
				floor = max(floor, a.state.Memory.Token)
			}
		case <-ctx.Done():
			return j.end(ctx)
		case <-time.After(j.cfg.Period):
		}
	}
	j.log.Warn("an operator says that no member of the group lives: this process founds it anew", "after token", floor, "asked", j.story())
	j.post(func() { j.foundAfter(floor) })
	return nil
}
