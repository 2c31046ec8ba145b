package launcher

import (
	"fmt"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

const (
	// explainLimit is how long a process may take to say what it waits for.
	explainLimit = 500 * time.Millisecond
	// explainedAtMost bounds how many processes the user is told of.
	explainedAtMost = 64
)

// explanation is what the processes of a late job say they wait for.
type explanation struct {
	asked   map[proto.Proc]bool // processes that haven't answered yet; nil: none was asked
	reasons int                 // how many processes have a reason so far
}

// explainAndKill asks all processes of a late job what they wait for, tells the user, and kills the
// processes.
func (j *job) explainAndKill() {
	j.late.asked = make(map[proto.Proc]bool)
	for _, p := range j.procs {
		switch e := &j.ledger.entries[p.id]; {
		case e.end.kind != running || j.inproc():
		case e.finalized:
			j.tellReason(p, "has finished, and runs on")
		case !e.ready:
			j.tellReason(p, "hasn't got through MPI_Init")
		case p.State().Stopped:
			j.tellReason(p, "is stopped")
		default:
			j.late.asked[p.id] = true
			p.Say(control.Message{Type: control.Explain})
		}
	}
	if len(j.late.asked) == 0 {
		j.endExplanations()
		return
	}
	time.AfterFunc(explainLimit, func() { j.post(j.endExplanations) })
}

// explained takes a process's message that says what it waits for.
func (j *job) explained(p *process, text string) {
	if !j.late.asked[p.id] {
		return
	}
	delete(j.late.asked, p.id)
	j.tellReason(p, text)
	if len(j.late.asked) == 0 {
		j.endExplanations()
	}
}

// endExplanations stops waiting for answers, once, and kills the processes.
func (j *job) endExplanations() {
	if j.late.asked == nil {
		return
	}
	for _, p := range j.procs {
		if j.late.asked[p.id] && j.ledger.entries[p.id].end.kind == running {
			j.tellReason(p, "doesn't say what it waits for")
		}
	}
	j.late.asked = nil
	j.killAll()
}

// tellReason tells the user why one process is late.
func (j *job) tellReason(p *process, text string) {
	switch j.late.reasons++; {
	case j.late.reasons <= explainedAtMost:
		j.warn(j.name(p) + " " + text)
	case j.late.reasons == explainedAtMost+1:
		j.note(fmt.Sprintf("and so on: the report of --report has all %d processes", len(j.procs)))
		fallthrough
	default:
		j.remark(j.name(p) + " " + text)
	}
}
