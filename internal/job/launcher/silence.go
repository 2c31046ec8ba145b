package launcher

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// evidenceGrace is how long a process whose connections are gone may take to be reaped before it is
// killed. Normally it is just dying.
const evidenceGrace = 100 * time.Millisecond

// suspected takes a suspicion. The suspicion of a fenced process doesn't count.
func (j *job) suspected(by *process, m control.Message) {
	if !j.ledger.valid(m.Proc) || j.ledger.entries[by.id].fenced {
		return
	}
	p := j.procs[m.Proc]
	if m.Incarnation != p.incarnation {
		// It is about the replacement that doesn't fill the slot yet. If it is about an earlier
		// incarnation, this has no effect.
		j.failAttempt(recovery.Process{Proc: m.Proc, Incarnation: m.Incarnation}, fmt.Sprintf("%v holds it for dead", by.id), recovery.Replacement)
		return
	}
	if m.Silent > 0 {
		j.fence(p, by.id, m.Silent)
		return
	}
	time.AfterFunc(evidenceGrace, func() {
		j.post(func() { j.fence(p, by.id, 0) })
	})
}

// fence kills a process that others hold for dead. by suspects it; NoProc is the launcher.
func (j *job) fence(p *process, by proto.Proc, silent time.Duration) {
	e := &j.ledger.entries[p.id]
	if j.ending || p != j.procs[p.id] || e.fenced || p.hasEnded() {
		return
	}
	e.fenced, e.by, e.silent = true, by, silent
	p.Signal(unix.SIGKILL)
}

// watchStopped fences stopped processes whose silence no other process would notice. These are
// processes that haven't initialised while others have, or while another replica of their rank has
// left in order, and replacements that no view has yet. Once any process has left the ring of
// heartbeats in order, these are all processes, because their observers may have left it, too.
func (j *job) watchStopped(now time.Time) {
	needed, leaving := j.server.Waiting() > 0, false
	for i := range j.ledger.entries {
		needed = needed || j.ledger.entries[i].ready
		leaving = leaving || j.ledger.entries[i].finalized
	}
	for _, p := range j.processes() {
		e := &j.ledger.entries[p.id]
		fillsSlot := p == j.procs[p.id]
		otherLeft := len(j.ledger.endings(j.ledger.Rank(p.id), inOrder)) > 0
		unobserved := leaving || !e.ready && (needed || otherLeft) || p.incarnation > 0 && !p.member
		if fillsSlot && e.end.kind != running || !unobserved || !p.State().Stopped {
			delete(j.stopped, p)
			continue
		}
		since, ok := j.stopped[p]
		silent := now.Sub(since)
		switch {
		case !ok:
			j.stopped[p] = now
		case silent < j.HeartbeatTimeout:
		case fillsSlot:
			j.fence(p, proto.NoProc, silent)
		default:
			j.failAttempt(p.identity(), "it was stopped", recovery.Replacement)
		}
	}
}
