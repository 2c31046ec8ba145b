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

// explain asks all processes of a job that has had its time what they wait for, tells
// the user, and kills them.
func (j *job) explain() {
	j.asked = make(map[proto.Proc]bool)
	for _, p := range j.procs {
		switch e := &j.ledger.entries[p.id]; {
		case e.end.kind != running || j.inproc():
		case e.finalized:
			j.because(p, "has finished, and runs on")
		case !e.ready:
			j.because(p, "hasn't got through MPI_Init")
		case p.stopped():
			j.because(p, "is stopped")
		default:
			j.asked[p.id] = true
			p.news.put(control.Message{Type: control.Explain})
		}
	}
	if len(j.asked) == 0 {
		j.hopeless()
		return
	}
	time.AfterFunc(explainLimit, func() { j.tell(j.hopeless) })
}

// explained takes a process's word on what it waits for.
func (j *job) explained(p *process, text string) {
	if !j.asked[p.id] {
		return
	}
	delete(j.asked, p.id)
	j.because(p, text)
	if len(j.asked) == 0 {
		j.hopeless()
	}
}

// hopeless ends the wait for explanations, once.
func (j *job) hopeless() {
	if j.asked == nil {
		return
	}
	for _, p := range j.procs {
		if j.asked[p.id] && j.ledger.entries[p.id].end.kind == running {
			j.because(p, "doesn't say what it waits for")
		}
	}
	j.asked = nil
	j.killAll()
}

// because tells the user of one process why the job is late.
func (j *job) because(p *process, text string) {
	switch j.reasons++; {
	case j.reasons <= explainedAtMost:
		j.warn(j.name(p) + " " + text)
	case j.reasons == explainedAtMost+1:
		j.note(fmt.Sprintf("and so on: the report of --report has all %d processes", len(j.procs)))
		fallthrough
	default:
		j.remark(j.name(p) + " " + text)
	}
}
