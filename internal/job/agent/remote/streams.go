package remote

import (
	"errors"
	"io"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
)

// input is the stdin of a process.
type input struct {
	*link.Out
	p *process
}

// Taken implements agent.Input. It waits for the agent.
func (i *input) Taken() (int64, error) {
	m, err := i.p.r.await(i.p.message(wire.CountTaken, nil))
	if err == nil && m.Text != "" {
		err = errors.New(m.Text)
	}
	return m.Count, err
}

// output is the stdout or stderr of a process.
type output struct {
	*link.In
	p       *process
	channel wire.Channel
}

// Read implements io.Reader. If the host is lost the output ends after what had come.
func (o *output) Read(b []byte) (int, error) {
	n, err := o.In.Read(b)
	if errors.Is(err, agent.ErrHostLost) {
		err = io.EOF
	}
	return n, err
}

// Drained implements agent.Output. It waits for the agent, and for the reader.
func (o *output) Drained(stop <-chan struct{}) bool {
	r := o.p.r
	number, answer, err := r.ask(o.p.message(wire.Drain, func(m *wire.Message) { m.Channel = o.channel }))
	if err == nil {
		select {
		case m := <-answer:
			return o.AwaitPassed(uint64(m.Count), stop)
		case <-r.ended:
		case <-o.Finished():
			r.forget(number)
			return true
		case <-stop:
			r.forget(number)
			r.say(o.p.message(wire.Forget, func(m *wire.Message) { m.Ask = number }))
			return false
		}
	}
	return o.AwaitPassed(1<<63, stop) // until its end
}
