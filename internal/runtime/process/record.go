package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// Recorder hears what happens in a process, for a trace. It has the clock. Its methods are
// called from within the Process's and must not call back.
type Recorder interface {
	// Sent is called when a frame is handed to the network.
	Sent(to proto.Proc, k wire.Kind)
	// Received is called when a frame has come, before anything is done with it.
	Received(from proto.Proc, k wire.Kind)
	// Coloured is called when a broadcast has reached this process, or begins here.
	Coloured()
	// Died is called when this process learns of a death.
	Died(q proto.Proc)
	// Waits is called when a thread of the program begins to wait in a call, and none does yet;
	// Resumes when none does any more.
	Waits()
	Resumes()
}

// Record has r hear what happens from now on; nil: nobody.
func (p *Process) Record(r Recorder) { p.cfg.Recorder = r }

func (p *Process) received(from proto.Proc, k wire.Kind) {
	if p.cfg.Recorder != nil {
		p.cfg.Recorder.Received(from, k)
	}
}
