package succession

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/fleet"
	"banyan/internal/job/launcher"
	"banyan/internal/proto/steward"
)

// gatherLimit bounds how long agents may take to come to the next launcher, or to be lost.
const gatherLimit = 60 * time.Second

// Successor is the part of a launcher that goes on with a job.
type Successor struct {
	Will       Will
	Resumption launcher.Resumption
	Shown      []byte // what the agent has shown of the job; nil: nothing

	note     func(text string)
	legacy   Legacy
	agent    net.Conn
	listener *remote.Listener
	fleet    *fleet.Fleet
	over     chan struct{} // closed when all know that the job is over, or will

	mu      sync.Mutex
	to      *gob.Encoder
	ports   map[steward.Host]wire.Ports
	lost    map[steward.Host]bool
	waits   map[steward.Host]context.CancelFunc // for agents that haven't come
	here    map[steward.Host]*remote.Remote
	parting map[steward.Host]func() // hosts that are to leave, and what to call when they have
	number  uint64
	kept    func()
	// nextHost is the number of the next host that is added.
	nextHost steward.Host
}

// Succeed gathers what the launchers before have left, and all agents. It is for the process that
// an agent starts when it leads. note is told what the user must know.
func Succeed(note func(string)) (*Successor, error) {
	s := &Successor{note: note, over: make(chan struct{}), lost: make(map[steward.Host]bool), waits: make(map[steward.Host]context.CancelFunc), here: make(map[steward.Host]*remote.Remote), parting: make(map[steward.Host]func())}
	unix.CloseOnExec(wordsDescriptor)
	unix.CloseOnExec(socketDescriptor)
	words, file := os.NewFile(wordsDescriptor, "words"), os.NewFile(socketDescriptor, "socket")
	defer words.Close()
	defer file.Close()
	var err error
	if s.agent, err = net.FileConn(words); err != nil {
		return nil, errors.New("agents call this command, and nobody else")
	}
	socket, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	s.to = gob.NewEncoder(s.agent)
	from := gob.NewDecoder(s.agent)
	var m mandate
	if err := from.Decode(&m); err != nil {
		return nil, err
	}
	key, err := secure.ReadKey(bytes.NewReader(m.Key))
	if err != nil {
		return nil, err
	}
	if len(m.Legacy) == 0 {
		return nil, errors.New("the launcher died before it had written down anything")
	}
	if err := decode(m.Legacy, &s.legacy); err != nil {
		return nil, err
	}
	state, err := s.legacy.state()
	if err != nil {
		return nil, err
	}
	s.Will, s.Resumption.State, s.Shown = s.legacy.Will, state, m.Shown
	for _, h := range m.Hosts {
		if h.State == steward.Lost || h.State == steward.Left {
			s.lost[h.Host] = true
		}
	}
	known := make(map[int]uint64)
	for _, a := range s.legacy.Agents {
		if a.Number != inside && !s.lost[a.Host] {
			known[a.Number] = a.Instance
		}
	}
	s.listener = remote.ListenOn(socket, key, remote.Options{Term: m.Term, Adopt: true, Verdicts: true, Known: known, Note: note})
	host, number := highest(m.Hosts, m.Ports, s.legacy.Agents)
	s.ports, s.nextHost = m.Ports, steward.Host(firstNew(host, m.Term))
	if s.ports == nil {
		s.ports = make(map[steward.Host]wire.Ports)
	}
	s.legacy.Agents = s.legacy.Agents[:min(len(state.Hosts), len(s.legacy.Agents))] // the last may have been on its way
	s.fleet = s.legacy.Estate.Inherit(s.listener, key, len(state.Hosts), firstNew(number, m.Term), state.Layout(), note)
	go s.listen(from)
	if err := s.gather(); err != nil {
		return s, err
	}
	s.fleet.TakeLater()
	return s, nil
}

// listen takes the agent's words. The kernel ends this process with the agent.
func (s *Successor) listen(from *gob.Decoder) {
	for {
		var w word
		if err := from.Decode(&w); err != nil {
			slog.Debug("succession: the agent has gone", "err", err)
			return
		}
		s.mu.Lock()
		for _, h := range w.Lost {
			s.lose(h, leaseOver)
		}
		for _, h := range w.Left {
			s.left(h)
		}
		if w.Kept != 0 && w.Kept == s.number && s.kept != nil {
			go s.kept()
		}
		s.mu.Unlock()
		if w.Over {
			close(s.over)
		}
	}
}

// lose notes that a host is lost. The lock is held.
func (s *Successor) lose(h steward.Host, why string) {
	s.lost[h] = true
	if stop := s.waits[h]; stop != nil {
		stop()
	}
	if r := s.here[h]; r != nil {
		go r.Lose(why)
	}
	for _, a := range s.legacy.Agents {
		if a.Host == h && a.Number != inside {
			s.listener.Vacate(a.Number, a.Instance) // another agent may come in its place
		}
	}
}

// gather waits for each agent, or until its host is lost.
func (s *Successor) gather() error {
	r := &s.Resumption
	n := len(r.State.Hosts)
	if len(s.legacy.Agents) < n {
		return fmt.Errorf("the launcher's state makes no sense: %d agents of %d hosts", len(s.legacy.Agents), n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), gatherLimit)
	defer cancel()
	r.Agents, r.Standing = make([]agent.Adopter, n), make([][]agent.Adopted, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		if !r.State.Lost[i] && (r.State.Left == nil || !r.State.Left[i]) {
			all.Go(func() { errs[i] = s.adopt(ctx, i) })
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// adopt waits for the agent of a host, and for what it says. If the host is lost it stays nil.
func (s *Successor) adopt(ctx context.Context, i int) error {
	a := s.legacy.Agents[i]
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock()
	lost := s.lost[a.Host]
	before := s.waits[a.Host]
	s.waits[a.Host] = func() {
		stop()
		if before != nil { // several agents in one process
			before()
		}
	}
	s.mu.Unlock()
	if lost {
		return nil
	}
	if a.Number == inside {
		<-ctx.Done()
		return s.unlessLost(a.Host, ctx.Err())
	}
	r, err := s.listener.Expect(ctx, a.Number)
	if err != nil {
		if errors.Is(err, agent.ErrHostLost) {
			return nil
		}
		return s.unlessLost(a.Host, err)
	}
	s.mu.Lock()
	s.here[a.Host] = r
	lost = s.lost[a.Host]
	s.mu.Unlock()
	if lost {
		r.Lose(leaseOver)
	}
	standing, err := r.Adopt(ctx)
	if errors.Is(err, agent.ErrHostLost) {
		return nil
	}
	if err != nil {
		return s.unlessLost(a.Host, err)
	}
	s.Resumption.Agents[i], s.Resumption.Standing[i] = r, standing
	return nil
}

// FirstLost says whether the machine of the first launcher is lost, as far as is known.
func (s *Successor) FirstLost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost[first]
}

// unlessLost is an error, unless that is because the host is lost.
func (s *Successor) unlessLost(h steward.Host, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost[h] {
		return nil
	}
	return err
}

// Configure has a launcher's Config go on as the one before.
func (s *Successor) Configure(c *launcher.Config) {
	state := s.Resumption.State
	for _, h := range state.Hosts {
		c.Names = append(c.Names, h.Name)
	}
	c.Rehome, c.Evacuate, c.Keep, c.Part = s.fleet.Rehome, s.fleet.Evacuate, s.keep, s.part
	c.AddHosts, c.Arrivals = s.fleet.Add, s.joiners(s.fleet.Arrivals())
}

// keep is launcher.Config's Keep.
func (s *Successor) keep(state []byte, kept func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.legacy
	l.State, l.Estate = state, s.fleet.Estate()
	s.number++
	s.kept = kept
	s.say(word{State: encode(l), Number: s.number})
}

// say tells the agent something. The lock is held.
func (s *Successor) say(w word) {
	if err := s.to.Encode(w); err != nil {
		slog.Debug("succession: unsaid", "err", err)
	}
}

// Finish ends the job. It waits until that is certain, or for a while: then it returns false. This
// process ends with its agent, soon after.
func (s *Successor) Finish(code int) (certain bool) {
	s.mu.Lock()
	s.say(word{Finished: true, Code: int32(code)})
	s.mu.Unlock()
	select {
	case <-s.over:
		certain = true
	case <-time.After(finishLimit):
	}
	return certain
}

// Close ends all agents.
func (s *Successor) Close() { s.fleet.Close() } // and with it the listener
