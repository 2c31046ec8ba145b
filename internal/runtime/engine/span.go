package engine

import (
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
)

// Somebody who watches the job may ask for a trace of a moment. Then the engine has a recorder for
// a while: all messages go through Go, and the machines call it where they call that of a job that
// is traced from its beginning. Small collectives in common memory send no messages, and aren't
// recorded.

// SpanRecorder records a span of time.
type SpanRecorder interface {
	process.Recorder
	// Over says that the span is over.
	Over() bool
	Close() error
}

// span is what the engine knows of the spans that were asked for.
type span struct {
	number uint64       // of the last one
	open   SpanRecorder // nil: none is recorded now
}

// lookForSpan begins to record, or ends it, if the page asks for that. The lock is held.
func (e *Engine) lookForSpan() {
	if r := e.span.open; r != nil {
		if !r.Over() {
			return
		}
		e.endSpan()
	}
	s, ok := e.counted.page.Span()
	if !ok || s.Number == e.span.number {
		return
	}
	e.span.number = s.Number
	if e.recorder != nil || e.cfg.RecordSpan == nil || e.closed {
		return
	}
	r, err := e.cfg.RecordSpan(s)
	if err != nil { // its trace is missing, which the agent sees
		return
	}
	e.span.open, e.recorder = r, r
	e.p.Record(r)
	e.closeLane(lane.Traced)
	if e.waiting.waiters() > 0 {
		r.Waits()
	}
}

// endSpan records no more. The lock is held.
func (e *Engine) endSpan() {
	e.span.open.Close() // what was recorded is written
	e.span.open, e.recorder = nil, nil
	e.p.Record(nil)
	e.shared.Closed.And(^uint32(lane.Traced))
}
