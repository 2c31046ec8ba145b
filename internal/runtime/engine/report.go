package engine

import (
	"fmt"
	"time"

	"banyan/internal/proto"
)

// reporting is to whom long waits are told.
type reporting struct {
	after  time.Duration
	report func(text string) // nil: to nobody
}

// longWait is what a wait knows of itself, from when it first sleeps.
type longWait struct {
	begun proto.Time
	lasts time.Duration // when it has lasted for so long it is reported; 0: it hasn't slept yet
}

// ReportWaits has report called with whom the program waits for, when a wait has lasted for so long
// and again each time that it has lasted for twice as long. The waiting thread calls it.
func (e *Engine) ReportWaits(after time.Duration, report func(text string)) {
	e.lock()
	e.reporting = reporting{after, report}
	e.wake()
	e.unlock()
}

// reportWait reports a wait that lasts for long. It is called when the thread has slept. The lock
// is held, but given up meanwhile.
func (e *Engine) reportWait(w *longWait) {
	r, now := e.reporting, e.now()
	switch {
	case r.report == nil:
	case w.lasts == 0:
		w.begun, w.lasts = now, r.after
	case now-w.begun >= proto.Time(w.lasts):
		text := e.explanation(e.p.Waits(), false)
		if e.p.Finishing() {
			text = "has finished, and waits for the others"
		}
		text = fmt.Sprintf("rank %d %s, since %v", int32(e.p.Rank()), text, w.lasts) // what it has really lasted would differ between replicas
		w.lasts *= 2
		if e.cfg.Where != nil {
			if where := e.cfg.Where(); where != "" {
				text += ", called at " + where
			}
		}
		e.mu.Unlock()
		r.report(text)
		e.lock()
	}
}
