package remote

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
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
	trace          string // the directory of its trace; empty: none
	relay          *relay
	speaker        atomic.Int64 // -1: nobody has asked for debuggers
	told           news         // the patrol's
	counted        uint64       // count's: what was told last
	retell         atomic.Bool  // the launcher knows nothing of what was told
	ended          atomic.Bool

	// The lock is held while the streams with a launcher change.
	mu       sync.Mutex
	lifeline link.Duplex
	stdin    *link.In      // nil: it has none
	feeding  chan struct{} // closed when what was taken of stdin is written
	deaf     bool          // it takes no more of stdin
	facts    facts
	parted   bool              // a launcher was told the facts, and has no lifeline yet
	unsaid   []control.Message // since then
	over     bool              // its lifeline has ended
	exit     wire.Message      // if its Type is Exited
}

// copied is how much is copied at a time.
const copied = 32 << 10

// take serves a process that has been started: it connects all streams.
func (s *server) take(proc agent.Process, spec agent.Spec) {
	k := key{spec.Proc, spec.Incarnation}
	p := &served{Process: proc, key: k, relay: newRelay(proc.PMI())}
	p.speaker.Store(-1)
	if spec.Trace != nil {
		p.trace = spec.Trace.Dir
	}
	p.stdout, p.stderr = s.link.Out(k.stream(wire.Stdout), true), s.link.Out(k.stream(wire.Stderr), true)
	p.mu.Lock()
	s.connectTo(p, 0)
	p.mu.Unlock()
	s.mu.Lock()
	s.procs[k] = p
	s.living++
	if s.ending {
		p.hangUp()
	}
	s.mu.Unlock()
	go collect(p.stdout, p.Stdout())
	go collect(p.stderr, p.Stderr())
	go p.relay.run()
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		p.Listen(p.say)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.lifeline.Out.Close()
	}()
	go func() {
		end, err := p.Wait()
		<-listened
		p.ended.Store(true)
		s.exited(p, end, err)
	}()
}

// connectTo makes the streams of a process that end with a launcher: all but its output. stdin is
// how much input it has been given. The process's lock is held.
func (s *server) connectTo(p *served, stdin uint64) {
	p.lifeline = s.link.Duplex(p.key.stream(wire.Lifeline), true)
	go tell(p, control.NewConn(p.lifeline))
	p.relay.begin(s.link.Duplex(p.key.stream(wire.PMI), true))
	if p.trace != "" {
		go p.passTrace(s.link.Out(p.key.stream(wire.Trace), true))
	}
	if p.Stdin() == nil || p.deaf {
		return
	}
	before, done := p.feeding, make(chan struct{})
	p.stdin, p.feeding = s.link.InFrom(p.key.stream(wire.Stdin), stdin, false), done
	go func(from *link.In) {
		defer close(done)
		if before != nil {
			<-before
		}
		if feed(p.Stdin(), from) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.deaf = true
		}
	}(p.stdin)
}

// say tells the launcher what the process says, and keeps it for the next one.
func (p *served) say(m control.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts.note(m)
	if p.parted {
		p.unsaid = append(p.unsaid, m)
		return
	}
	control.NewConn(p.lifeline).Send(m)
}

// hangUp has nothing wait for the launcher any more.
func (p *served) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lifeline.Out.Close()
	p.stdout.Close()
	p.stderr.Close()
}

// exited tells the launcher how a process ended, unless the agent ends them all.
func (s *server) exited(p *served, end agent.End, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lifeline.In.Close() // the launcher learns that nobody reads any more
	p.relay.close()
	if p.stdin != nil {
		p.stdin.Close()
	}
	if !s.ending && err == nil {
		at := deadline.Now() - proto.Time(max(0, time.Since(end.At)))
		p.exit = wire.Message{Type: wire.Exited, Proc: p.key.proc, Incarnation: p.key.incarnation, Status: uint32(end.Status), At: max(0, at)}
		s.say(p.exit)
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

// feed gives a process what the launcher sends it. It returns false if another launcher goes on.
func feed(to io.WriteCloser, from *link.In) bool {
	chunk := make([]byte, copied)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			if _, err := to.Write(chunk[:n]); err != nil {
				break
			}
		}
		if errors.Is(err, link.ErrRestarted) {
			return false
		}
		if err != nil {
			break
		}
	}
	from.Close()
	to.Close()
	return true
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
