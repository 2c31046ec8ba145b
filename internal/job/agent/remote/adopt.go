package remote

import (
	"context"
	"fmt"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/wire"
)

// Adopt implements agent.Adopter. The Listener must have been made with Options.Adopt.
func (r *Remote) Adopt(ctx context.Context) ([]agent.Adopted, error) {
	var standing []wire.Standing
	select {
	case standing = <-r.standing:
	case <-r.ended:
		return nil, agent.ErrHostLost
	case <-ctx.Done():
		return nil, fmt.Errorf("%s on %s doesn't say what runs there: %w", agentName(r.number), r.host.Name, ctx.Err())
	}
	all := make([]agent.Adopted, len(standing))
	for i := range standing {
		x := &standing[i]
		all[i] = agent.Adopted{
			Process: r.adopt(x), Proc: x.Proc, Incarnation: x.Incarnation, StdinAt: int64(x.Stdin), StdinOver: x.StdinOver,
			OutputsAt: [2]int64{int64(x.Outputs[0]), int64(x.Outputs[1])}, Barriers: x.Barriers, Said: x.Said,
		}
		x.Said = nil
	}
	switch _, err := r.awaitWithin(ctx, wire.Message{Type: wire.Adopt, Standing: standing}); {
	case err != nil && err == ctx.Err():
		return nil, fmt.Errorf("%s on %s doesn't say that it goes on: %w", agentName(r.number), r.host.Name, err)
	case err != nil:
		return nil, err
	}
	return all, nil
}

// adopt makes a process that stands.
func (r *Remote) adopt(x *wire.Standing) *process {
	p := &process{r: r, key: key{x.Proc, x.Incarnation}, pid: x.Pid, exited: make(chan struct{}), listened: make(chan struct{})}
	p.speaker.Store(-1)
	if x.HasStdin {
		p.stdin = r.link.OutFrom(p.key.stream(wire.Stdin), x.Stdin, true)
	}
	p.stdout = &output{In: r.link.InFrom(p.key.stream(wire.Stdout), x.Outputs[0], x.Over[0]), p: p, channel: wire.Stdout}
	p.stderr = &output{In: r.link.InFrom(p.key.stream(wire.Stderr), x.Outputs[1], x.Over[1]), p: p, channel: wire.Stderr}
	if x.Trace {
		p.newTrace()
	}
	r.finish(p)
	return p
}
