package engine

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// Admit says that a replacement has come for a dead process.
func (e *Engine) Admit(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Admit(q, incarnation) })
}

// Help says that this process is the donor of a replacement that has been admitted.
func (e *Engine) Help(q proto.Proc, incarnation proto.Incarnation) {
	e.tell(func(p *process.Process) { p.Help(q, incarnation) })
}

// Marked says, during a donation, that the launcher knows how far this process's output goes, and
// how many bytes of input it has read.
func (e *Engine) Marked(q proto.Proc, incarnation proto.Incarnation, input int64) {
	e.tell(func(p *process.Process) { p.Marked(q, incarnation, input) })
}

// GiveUpJoining ends this replacement, because of why, unless it has joined. It returns false if it
// has.
func (e *Engine) GiveUpJoining(why error) (ends bool) {
	e.tell(func(p *process.Process) { ends = p.GiveUpJoining(why) })
	return ends
}

// Noted says that the launcher knows that this process is at its first safe point, and how many
// bytes of input had been read there.
func (e *Engine) Noted(input int64) { e.tell(func(p *process.Process) { p.Noted(input) }) }

// AwaitLog waits, in a replacement, until the log is here with which its program begins. The
// program must not start before.
func (e *Engine) AwaitLog() error {
	e.lock()
	defer e.mu.Unlock()
	e.until(func() bool { return e.p.LogWhole() })
	if !e.p.LogWhole() {
		return process.ErrClosed
	}
	return nil
}
