package launcher

import (
	"time"

	"banyan/internal/proto"
)

// readiness says when snapshots of an epoch may begin. A process makes room for its parts at its
// first safe point, beside its program, and ranks that stood for one that isn't there yet would
// stand for as long as that takes.
type readiness struct {
	unready map[proto.Proc]bool
	since   time.Time // when the first snapshot was due; zero: it wasn't
}

// patience is for how many times the time between snapshots the first one waits for processes that
// aren't ready. Some programs have ranks that never come to a safe point: the snapshot is tried
// then, and the user is told what it lacks.
const patience = 10

func newReadiness(processes int) readiness {
	r := readiness{unready: map[proto.Proc]bool{}}
	for id := range proto.Proc(processes) {
		r.unready[id] = true
	}
	return r
}

// ready notes that a process is ready, and says whether a snapshot waited for it alone.
func (r *readiness) ready(id proto.Proc) (due bool) {
	was := len(r.unready)
	delete(r.unready, id)
	return was > 0 && len(r.unready) == 0 && !r.since.IsZero()
}

// wait says how long a snapshot that is due has to wait, at most; 0: it may begin.
func (r *readiness) wait(now time.Time, every time.Duration) time.Duration {
	if len(r.unready) == 0 {
		return 0
	}
	if r.since.IsZero() {
		r.since = now
	}
	return max(0, min(patience*every, snapshotLimit)-now.Sub(r.since))
}
