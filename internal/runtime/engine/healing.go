package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Admit says that a process has come to take the place of a dead one.
func (e *Engine) Admit(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Admit(q, incarnation) })
}

// Help says that this process is the donor of one that has been admitted.
func (e *Engine) Help(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Help(q, incarnation) })
}

// Marked says, in a donation to a replacement, that the launcher knows how far this process's output goes, and that it has read so many
// bytes of input.
func (e *Engine) Marked(q proto.Proc, incarnation proto.Incarnation, input int64) {
	e.tell(func(p *process.Process) { p.Marked(q, incarnation, input) })
}

// Noted says that the launcher knows that this process is at its first safe point, and that so many bytes of
// input have been read there.
func (e *Engine) Noted(input int64) { e.tell(func(p *process.Process) { p.Noted(input) }) }

// AwaitLog waits, in a replacement, until what its program is to begin with is here. The
// program must not start before.
func (e *Engine) AwaitLog() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.until(func() bool { return e.p.LogWhole() })
	if !e.p.LogWhole() {
		return process.ErrClosed
	}
	return nil
}

func (h host) Heals(step process.HealStep) {
	if step == process.StepCommitted && h.e.cfg.Committed != nil {
		h.e.cfg.Committed()
	}
	event := Event{Kind: Heals, Step: step, Opaque: h.e.safe.input.opaque}
	if step == process.StepMark {
		event.Replacement, event.Incarnation = h.e.p.Replacement()
	}
	h.put(event)
}
