package remote

import (
	"io"
	"sync/atomic"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// served is a process that this agent has started for its launcher.
type served struct {
	agent.Process
	key            key
	stdout, stderr *link.Out
	lifeline       link.Duplex
	speaker        atomic.Int64 // -1: nobody has asked for debuggers
	told           news         // the patrol's
	ended          atomic.Bool
}

// copied is how much is copied at a time.
const copied = 32 << 10

// take serves a process that has been started: it connects all streams.
func (s *server) take(proc agent.Process, spec agent.Spec) {
	k := key{spec.Proc, spec.Incarnation}
	p := &served{Process: proc, key: k}
	p.speaker.Store(-1)
	p.stdout, p.stderr = s.link.Out(k.stream(wire.Stdout), true), s.link.Out(k.stream(wire.Stderr), true)
	pmi := s.link.Duplex(k.stream(wire.PMI), true)
	p.lifeline = s.link.Duplex(k.stream(wire.Lifeline), true)
	heard := []*link.In{pmi.In, p.lifeline.In}
	if p.Stdin() != nil {
		in := s.link.In(k.stream(wire.Stdin))
		heard = append(heard, in)
		go feed(p.Stdin(), in)
	}
	s.mu.Lock()
	s.procs[k] = p
	s.living++
	if s.ending {
		p.hangUp()
	}
	s.mu.Unlock()
	go collect(p.stdout, p.Stdout())
	go collect(p.stderr, p.Stderr())
	go collect(pmi.Out, readOnly{p.PMI()})
	go feed(p.PMI(), pmi.In)
	words := control.NewConn(p.lifeline)
	go tell(p, words)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		p.Listen(func(m control.Message) { words.Send(m) })
		p.lifeline.Out.Close()
	}()
	go func() {
		end, err := p.Wait()
		<-listened
		p.ended.Store(true)
		for _, in := range heard {
			in.Close() // the launcher learns that nobody reads any more
		}
		s.exited(k, end, err)
	}()
}

// hangUp has nothing wait for the launcher any more.
func (p *served) hangUp() {
	p.lifeline.Out.Close()
	p.stdout.Close()
	p.stderr.Close()
}

// exited tells the launcher how a process ended, unless the agent ends them all.
func (s *server) exited(k key, end agent.End, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending && err == nil {
		at := boottime() - proto.Time(max(0, time.Since(end.At)))
		s.say(wire.Message{Type: wire.Exited, Proc: k.proc, Incarnation: k.incarnation, Status: uint32(end.Status), At: max(0, at)})
	}
	s.fewer()
}

// collect sends what a process writes. When the launcher is far behind it stops reading, so that
// the process has to wait.
func collect(to *link.Out, from io.ReadCloser) {
	defer from.Close()
	defer to.Close()
	chunk := make([]byte, copied)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readOnly is a connection that another goroutine closes.
type readOnly struct{ io.Reader }

func (readOnly) Close() error { return nil }

// feed gives a process what the launcher sends it.
func feed(to io.WriteCloser, from *link.In) {
	defer to.Close()
	defer from.Close()
	chunk := make([]byte, copied)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// tell passes on what the launcher says on a lifeline.
func tell(p *served, words *control.Conn) {
	for {
		m, err := words.Receive()
		if err != nil {
			return
		}
		p.Say(m)
	}
}
