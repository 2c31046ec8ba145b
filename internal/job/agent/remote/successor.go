package remote

import (
	"context"
	"log/slog"
	"slices"

	"banyan/internal/job/agent/lease"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/control"
)

// Another launcher takes over from the one before: it has a higher term, and other addresses. The
// agent dials it, tells it which processes there are (Stands), and waits until it has made their
// streams (Adopt). Output goes on where the launcher before had acknowledged it. All other streams
// begin anew: the agent tells what the process has said, repeats its question to PMI, and
// takes its input from where it was.

// succeed looks for each launcher that takes over.
func (s *server) succeed(ctx context.Context, d *dialler, c *Config) {
	for {
		select {
		case <-ctx.Done():
			return
		case n, ok := <-c.Next:
			if !ok {
				return
			}
			s.mu.Lock()
			later := n.Term > s.term
			s.mu.Unlock()
			if later {
				d.turn(n.Addresses)
				s.link.Cut()
				if c.Charge != nil {
					c.Charge(Testimony{Addresses: n.Addresses, Number: c.Number, Instance: s.instance, Key: c.Key})
				}
			}
		}
	}
}

// restart makes the streams with a launcher that takes over, and tells it what there is.
func (s *server) restart(welcome wire.Greeting) {
	slog.Debug("another launcher", "agent", s.number, "term", welcome.Term)
	s.starts.Lock() // what the launcher before has asked for is started, or never is
	defer s.starts.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launcher, s.term, s.holder = welcome.Instance, welcome.Term, lease.NewHolder(welcome.Grant)
	s.extend(s.holder.Until())
	s.link.Restart(isOutput)
	for n, stop := range s.drains {
		close(stop)
		delete(s.drains, n)
	}
	s.answers.Store(s.link.Out(messages, false))
	commands := s.link.In(messages)
	m := wire.Message{Type: wire.Stands}
	for _, p := range s.procs {
		m.Standing = append(m.Standing, p.standing())
	}
	s.say(m)
	go s.obey(commands)
}

// standing describes a process to a launcher that takes over.
func (p *served) standing() wire.Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parted, p.unsaid = true, nil
	x := wire.Standing{Proc: p.key.proc, Incarnation: p.key.incarnation, Pid: p.PID(), HasStdin: p.Stdin() != nil, Trace: p.trace != "", StdinOver: p.deaf, Barriers: p.relay.standing(), Said: slices.Clone(p.facts)}
	if p.stdin != nil {
		taken, ended := p.stdin.Standing()
		x.Stdin, x.StdinOver = taken, x.StdinOver || ended || p.ended.Load()
	}
	x.Outputs[0], x.Over[0] = p.stdout.Standing()
	x.Outputs[1], x.Over[1] = p.stderr.Standing()
	return x
}

// goOn serves all processes to a launcher that has made their streams.
func (s *server) goOn(m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range m.Standing {
		p := s.procs[key{x.Proc, x.Incarnation}]
		if p == nil {
			continue
		}
		p.mu.Lock()
		s.connectTo(p, x.Stdin)
		words := control.NewConn(p.lifeline)
		for _, fact := range p.unsaid {
			words.Send(fact)
		}
		p.unsaid, p.parted = nil, false
		if p.over {
			p.lifeline.Out.Close()
		}
		if p.ended.Load() {
			p.lifeline.In.Close()
		}
		p.stdout.GoOn()
		p.stderr.GoOn()
		p.speaker.Store(-1)
		p.retell.Store(true)
		exit := p.exit
		p.mu.Unlock()
		if exit.Type == wire.Exited {
			s.say(exit)
		}
	}
	s.say(wire.Message{Type: wire.Adopted, Ask: m.Ask})
}
