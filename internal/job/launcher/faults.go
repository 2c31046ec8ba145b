package launcher

import (
	"time"

	"banyan/internal/fault"
	"banyan/internal/proto"
)

// planFaults sets timers for the planned faults.
func (j *job) planFaults() {
	j.past = make([]bool, len(j.planned))
	for _, e := range j.planned {
		j.report.Faults = append(j.report.Faults, Fault{Event: e.String()})
	}
	j.awaitFaults()
}

// awaitFaults sets timers for those whose time hasn't come. If it was between two launchers it is
// now.
func (j *job) awaitFaults() {
	for i, e := range j.planned {
		if e.At.Kind == fault.After && !j.past[i] {
			time.AfterFunc(e.At.Duration()-time.Since(j.started), func() {
				j.post(func() { j.inject(i) })
			})
		}
	}
}

// inject carries out a planned fault.
func (j *job) inject(i int) {
	e := j.planned[i]
	p := j.procs[j.ledger.Proc(proto.Rank(e.Rank), e.Replica)]
	j.past[i] = true
	j.changed()
	if j.ending || j.ledger.entries[p.id].end.kind != running {
		return // the process has gone
	}
	now := time.Now()
	p.Signal(e.Action.Signal())
	if _, twice := j.injected[p.id]; !twice {
		j.injected[p.id] = now
	}
	j.report.Faults[i].Injected = new(Seconds(now.Sub(j.started)))
}
