package remote

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/wire"
)

// obey carries out commands, until the link ends.
func (s *server) obey(commands io.Reader) {
	for {
		m, err := wire.ReadMessage(commands)
		switch {
		case errors.Is(err, wire.ErrCorrupt):
			s.over(fmt.Errorf("the launcher can't be understood: %w", err))
			return
		case err != nil || !s.held():
			return // the link has ended, or does so
		case s.isOld(m.Term):
			slog.Debug("refused: an older term", "agent", s.number, "message", m.Type, "term", m.Term)
			continue
		}
		if err := s.carryOut(m); err != nil {
			s.over(fmt.Errorf("the launcher can't be understood: %w", err))
			return
		}
	}
}

// isOld says whether a launcher of a later term was heard.
func (s *server) isOld(term uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term = max(s.term, term)
	return term < s.term
}

// isLater says whether a term is later than all that were heard.
func (s *server) isLater(term uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return term > s.term
}

// carryOut carries out a command. What may take long has a goroutine of its own. A command of no
// known type is an error: who has sent it would wait for an answer for ever.
func (s *server) carryOut(m wire.Message) error {
	s.mu.Lock()
	p := s.procs[key{m.Proc, m.Incarnation}]
	s.mu.Unlock()
	switch m.Type {
	case wire.Start:
		s.starts.RLock()
		go func() {
			defer s.starts.RUnlock()
			s.start(m)
		}()
	case wire.Adopt:
		s.goOn(m)
	case wire.Close:
		s.over(errTold)
	case wire.Signal:
		if p != nil {
			p.Signal(syscall.Signal(m.Signal))
		}
	case wire.Watch:
		if p != nil {
			p.speaker.Store(int64(m.Speaker))
		}
	case wire.CountTaken:
		go s.countTaken(m, p)
	case wire.Drain:
		stop := make(chan struct{})
		s.mu.Lock()
		s.drains[m.Ask] = stop
		s.mu.Unlock()
		go s.drain(m, p, stop)
	case wire.DigestPart:
		go s.digestPart(m)
	case wire.ReadPart:
		go s.readPart(m)
	case wire.WritePart:
		from := s.link.In(partStream(m.Proc, m.Ask))
		s.say(wire.Message{Type: wire.PartReady, Ask: m.Ask})
		go s.writePart(m, from)
	case wire.Forget:
		s.forget(m.Ask)
	case wire.Open:
		s.open(m)
	case wire.Charter:
		s.begin(m)
	case wire.Show:
		s.show(m)
	case wire.Record:
		go s.recordSpan(m)
	case wire.Answered:
		s.requests.answered(m)
	case wire.Meet:
		if s.peers != nil {
			s.peers.Meet(m.Words)
		}
	default:
		return fmt.Errorf("%w: a command of type %.100q", wire.ErrCorrupt, m.Type)
	}
	return nil
}

// start starts processes.
func (s *server) start(m wire.Message) {
	if s.isOld(m.Term) {
		return // another launcher has come while this waited
	}
	answer := wire.Message{Type: wire.Failed, Ask: m.Ask}
	defer func() { s.say(answer) }()
	switch {
	case m.Start == nil:
		answer.Text = "the launcher has named no processes"
		return
	case !s.more():
		answer.Text = "the agent ends"
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fewer()
	}()
	specs, err := m.Start.Unpack()
	var procs []agent.Process
	if err == nil {
		err = s.record(specs)
	}
	if err == nil {
		procs, err = s.local.Start(specs)
	}
	var failed *agent.StartError
	switch {
	case errors.As(err, &failed):
		answer.Proc, answer.Op, answer.Errno = failed.Proc, failed.Op, int(failed.Err)
		return
	case err != nil:
		answer.Text = err.Error()
		return
	}
	answer.Type = wire.Started
	for i, p := range procs {
		answer.Pids = append(answer.Pids, p.PID())
		s.take(p, specs[i])
	}
}

// countTaken answers how much of its input a process has read.
func (s *server) countTaken(m wire.Message, p *served) {
	answer := wire.Message{Type: wire.Taken, Ask: m.Ask}
	if p == nil || p.Stdin() == nil {
		answer.Text = "the process has no input"
	} else if n, err := p.Stdin().Taken(); err != nil {
		answer.Text = err.Error()
	} else {
		answer.Count = n
	}
	s.say(answer)
}

// drain answers how much a process has written, when all of that is on its way.
func (s *server) drain(m wire.Message, p *served, stop <-chan struct{}) {
	defer s.forget(m.Ask)
	answer := wire.Message{Type: wire.Drained, Ask: m.Ask}
	if p != nil {
		from, to := p.Stdout(), p.stdout
		if m.Channel == wire.Stderr {
			from, to = p.Stderr(), p.stderr
		}
		if !from.Drained(stop) {
			return
		}
		answer.Count = int64(to.Written())
	}
	s.say(answer)
}

// forget does away with a question.
func (s *server) forget(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop, ok := s.drains[number]; ok {
		close(stop)
		delete(s.drains, number)
	}
}
