package launcher

import (
	"banyan/internal/job/agent"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// process is a started process, with what the launcher knows beyond its agent. The loop owns the
// fields that aren't set when it is started.
type process struct {
	agent.Process
	id          proto.Proc
	incarnation proto.Incarnation // how many processes filled its replica slot before
	host        int               // the number of its agent
	pid         int               // on that host

	// Of a replacement: its output is read; a view has it, so others observe it.
	follows, member bool
	// base is where its outputs begin in those of its rank; skip is how much of what comes of them
	// was shown before this launcher took over, negative if there is a gap.
	base, skip [2]int64
	// start is where what is read of its outputs begins in those of its rank. tails are what of
	// those may not have been shown before base.
	start    [2]int64
	tails    [2][]byte
	barriers int  // of PMI that it had left when this launcher took it over
	known    bool // its end was known to the launcher before
	// Of a donor: how many reads of its output to the end are under way, and what to call after
	// the last of them.
	drains     int
	afterDrain func()

	ended   chan struct{} // closed when it is known how it ended
	inOrder bool          // valid then
}

func newProcess(s *agent.Spec, p agent.Process, host int) *process {
	return &process{
		Process: p, id: s.Proc, incarnation: s.Incarnation, host: host, pid: p.PID(), ended: make(chan struct{}),
	}
}

// identity is the process as package recovery knows it.
func (p *process) identity() recovery.Process {
	return recovery.Process{Proc: p.id, Incarnation: p.incarnation}
}

// hasInput says whether the process gets the job's input.
func (p *process) hasInput() bool { return p.Stdin() != nil }

// hasEnded says whether the process has ended, as far as its agent has told.
func (p *process) hasEnded() bool { return p.State().Ended }

// setEnd says how the process ended.
func (p *process) setEnd(inOrder bool) {
	p.inOrder = inOrder
	close(p.ended)
}

// leftInOrder waits until it is known how the process ended.
func (p *process) leftInOrder() bool {
	<-p.ended
	return p.inOrder
}
