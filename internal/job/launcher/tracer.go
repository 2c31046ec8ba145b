package launcher

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"time"

	"banyan/internal/job/control"
)

// A debugger stops a process for as long as its user thinks. To the others that
// looks like a death. The kernel tells the launcher better: /proc/PID/status names
// the tracer. It has to be asked, often enough that the others hear of a debugger
// well before δ has passed.

// watchTracers tells the processes which of them have a debugger now, where that
// has changed.
func (j *job) watchTracers() {
	for _, p := range j.procs {
		e := &j.ledger.entries[p.id]
		traced := e.end.kind == running && p.traced(e.pid)
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

// traced says whether a debugger is attached to the process, or to the one that
// speaks in its place, unless speaker is 0.
func (p *process) traced(speaker int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return false // the numbers may be others'
	}
	return isTraced(p.pid) || speaker != 0 && speaker != p.pid && isTraced(speaker)
}

func isTraced(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && tracerOf(status) != "0"
}

// tracerOf is the process that traces another, "0" if none, by the status that
// /proc tells of the other.
func tracerOf(status []byte) string {
	if tracer, ok := statusField(status, "TracerPid"); ok {
		return tracer
	}
	return "0"
}

// statusField is a line of a status that /proc tells.
func statusField(status []byte, name string) (string, bool) {
	_, rest, found := bytes.Cut(status, []byte("\n"+name+":"))
	line, _, whole := bytes.Cut(rest, []byte{'\n'})
	return string(bytes.TrimSpace(line)), found && whole
}

// patrolShare bounds the share of a core that a patrol takes.
const patrolShare = 50

// patrol is the time for a round that is made again and again: each period, but
// more seldom if the rounds take too long, as they do for thousands of processes.
type patrol struct {
	period time.Duration
	due    <-chan time.Time
}

func newPatrol(period time.Duration) *patrol {
	return &patrol{period, time.After(period)}
}

// make makes a round, and sets the time of the next.
func (p *patrol) make(round func()) {
	start := time.Now()
	round()
	p.due = time.After(max(p.period, patrolShare*time.Since(start)))
}
