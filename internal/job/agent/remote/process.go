package remote

import (
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/agent"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/control"
)

// process is a process of another host.
type process struct {
	r              *Remote
	key            key
	pid            int
	stdin          *link.Out // nil without input
	stdout, stderr *output
	record         *link.In // nil: it records nothing
	pmi            link.Duplex
	lifeline       *control.Conn
	exited         chan struct{} // closed when end is known
	end            agent.End
	listened       chan struct{} // closed when Listen has returned

	speaker atomic.Int64 // what the agent was told; -1: nothing yet

	mu    sync.Mutex
	state agent.State
	trace bool
	// counted is what it has counted, if counts is set.
	counted counters.Record
	counts  bool
}

// newProcess makes a process that is to be started. Its streams are there before the agent can
// send on them.
func (r *Remote) newProcess(s agent.Spec) *process {
	p := &process{r: r, key: key{s.Proc, s.Incarnation}, exited: make(chan struct{}), listened: make(chan struct{})}
	p.speaker.Store(-1)
	if s.Input != agent.NoInput {
		p.stdin = r.link.Out(p.key.stream(wire.Stdin), true)
	}
	p.stdout, p.stderr = p.output(wire.Stdout), p.output(wire.Stderr)
	if s.Trace != nil {
		p.newTrace()
	}
	r.finish(p)
	return p
}

// finish makes the streams of a process that are the same if another launcher has started it.
func (r *Remote) finish(p *process) {
	p.pmi = r.link.Duplex(p.key.stream(wire.PMI), true)
	p.lifeline = control.NewConn(r.link.Duplex(p.key.stream(wire.Lifeline), false))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.procs[p.key] = p
}

func (p *process) output(c wire.Channel) *output {
	return &output{In: p.r.link.In(p.key.stream(c)), p: p, channel: c}
}

// discard forgets a process that wasn't started.
func (p *process) discard() {
	p.r.mu.Lock()
	delete(p.r.procs, p.key)
	p.r.mu.Unlock()
	for c := wire.Lifeline; c <= wire.Trace; c++ {
		p.r.link.Forget(p.key.stream(c))
	}
}

// take takes what the agent says about the process.
func (p *process) take(m wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Type == wire.Counted {
		if m.Counters != nil {
			p.counted, p.counts = *m.Counters, true
		}
		return
	}
	if m.Type == wire.News {
		p.state = agent.State{Ended: m.Ended || p.state.Ended, Stopped: m.Stopped && !m.Ended && !p.state.Ended}
		p.trace = m.Traced
		return
	}
	select {
	case <-p.exited:
	default:
		p.end = agent.End{Status: unix.WaitStatus(m.Status), At: p.r.when(m.At)}
		p.state, p.trace = agent.State{Ended: true}, false
		close(p.exited)
	}
}

func (p *process) PID() int { return p.pid }

func (p *process) Stdin() agent.Input {
	if p.stdin == nil {
		return nil
	}
	return &input{p.stdin, p}
}

func (p *process) Stdout() agent.Output    { return p.stdout }
func (p *process) Stderr() agent.Output    { return p.stderr }
func (p *process) PMI() io.ReadWriteCloser { return p.pmi }

// Say implements agent.Process. After the end of the process or the host it does nothing.
func (p *process) Say(m control.Message) { p.lifeline.Send(m) }

// Listen implements agent.Process. If the host is lost it returns after what had come.
func (p *process) Listen(heard func(control.Message)) {
	defer close(p.listened)
	for {
		m, err := p.lifeline.Receive()
		if err != nil {
			return
		}
		heard(m)
	}
}

// Signal implements agent.Process. A signal that the agent can't be sent now comes late.
func (p *process) Signal(s syscall.Signal) {
	p.r.say(p.message(wire.Signal, func(m *wire.Message) { m.Signal = int(s) }))
}

// message makes a message about the process.
func (p *process) message(t wire.Type, set func(*wire.Message)) wire.Message {
	m := wire.Message{Type: t, Proc: p.key.proc, Incarnation: p.key.incarnation}
	if set != nil {
		set(&m)
	}
	return m
}

// State implements agent.Process: what the agent has told last. The processes of a lost host have
// ended.
func (p *process) State() agent.State {
	select {
	case <-p.r.lost:
		return agent.State{Ended: true}
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Traced implements agent.Process: what the agent has told last. It tells nothing before it was
// asked for the first time.
func (p *process) Traced(speaker int) bool {
	if p.speaker.Swap(int64(speaker)) != int64(speaker) {
		p.r.say(p.message(wire.Watch, func(m *wire.Message) { m.Speaker = speaker }))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trace
}

// Wait implements agent.Process.
func (p *process) Wait() (agent.End, error) {
	select {
	case <-p.exited:
	case <-p.r.ended:
	}
	<-p.listened
	select {
	case <-p.exited:
		return p.end, nil
	default:
		return agent.End{}, agent.ErrHostLost
	}
}
