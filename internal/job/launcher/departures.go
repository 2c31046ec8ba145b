package launcher

import (
	"time"

	"banyan/internal/job/control"
)

// departures are the processes that have left in order, and of which the others haven't been told
// yet. The news matters only to processes that are still on their way through the shutdown barrier
// when its coordinator dies: they would take the silence of those that left for death, δ later. So
// the launcher waits for η first. By then almost all have said that they leave, too, and have no
// ear any more. To tell all others of each one at once would be n² messages at the end of every
// job.
type departures struct {
	list []*process
	due  <-chan time.Time // nil: there are none
}

// departed notes that a process has left in order.
func (j *job) departed(p *process) {
	j.departures.list = append(j.departures.list, p)
	if j.departures.due == nil {
		j.departures.due = time.After(j.HeartbeatPeriod)
	}
}

// tellDepartures tells the processes that haven't finalised of those that have left.
func (j *job) tellDepartures() {
	for _, p := range j.departures.list {
		for _, q := range j.processes() {
			fillsSlot := q == j.procs[q.id]
			if e := &j.ledger.entries[q.id]; !fillsSlot || e.end.kind == running && !e.finalized {
				q.Say(control.Message{Type: control.Left, Proc: p.id})
			}
		}
		j.tellStarting(control.Message{Type: control.Left, Proc: p.id})
	}
	j.departures = departures{}
}
