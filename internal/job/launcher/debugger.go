package launcher

import (
	"log/slog"

	"banyan/internal/job/control"
)

// A debugger stops a process for as long as its user thinks. To the other processes that looks like
// a death. The launcher can tell the two apart: /proc/PID/status names the tracer. The launcher
// reads it often enough to tell the others of a debugger well before δ has passed.

// watchTracers tells the processes which of them have a debugger now, if that has changed.
func (j *job) watchTracers() {
	for _, p := range j.procs {
		e := &j.ledger.entries[p.id]
		traced := e.end.kind == running && p.Traced(e.pid)
		if traced == e.traced {
			continue
		}
		e.traced = traced
		slog.Debug("debugger", "process", p.id, "pid", p.pid, "attached", traced)
		news := control.Message{Type: control.Untraced, Proc: p.id}
		if traced {
			news.Type = control.Traced
		}
		j.tellOthers(p, news)
	}
}
