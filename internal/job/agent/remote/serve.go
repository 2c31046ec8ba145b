package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/lease"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
)

// DefaultLimit is how long an agent looks for its launcher.
const DefaultLimit = 20 * time.Second

// goodbyeLimit bounds how long an agent that ends waits for the launcher to read its last words.
// The launcher hangs up then, so this is for one that doesn't read, and for a host without a core
// to spare.
const goodbyeLimit = 3 * time.Second

// forewarning is how long before the end of the launcher's lease the peers hear of that: an agent
// that is late to look at the clock is ended by the kernel.
const forewarning = time.Second

// killLimit bounds how long an agent that ends waits for its processes to be dead.
const killLimit = 2 * time.Second

// Errors of Serve.
var (
	// ErrLeaseOver says that the agent couldn't reach its launcher for as long as its lease.
	ErrLeaseOver = errors.New("the launcher couldn't be reached for as long as the lease: all processes were killed")
	// errTold ends an agent that was told to end.
	errTold = errors.New("the launcher has ended the agent")
)

// Config is what an agent needs. Addresses, Key and Agent must be set.
type Config struct {
	Addresses []string // of the launcher, as HOST:PORT; all are tried at the same time
	Number    int      // of this agent, from 0 on
	Key       secure.Key
	Agent     agent.Agent // starts the processes
	// Limit is how long the agent looks for its launcher at first. 0: DefaultLimit.
	Limit time.Duration
	// Begun, if given, is called when the launcher has welcomed the agent.
	Begun func()
	// Charge, if given, is told what the agent's parent is to say when the agent has died without
	// having said so. A later call takes the place of an earlier one.
	Charge func(Testimony)
	// Sweep, if given, is told a directory that the agent's parent is to remove, by RemoveTraces,
	// when the agent has died.
	Sweep func(dir string)
	// Extend, if given, is told when the lease ends, by CLOCK_BOOTTIME, and each time that it ends
	// later. At that time this process must be killed, and its processes with it, if it is
	// stopped: if it runs, it has ended a little earlier by itself.
	Extend func(until proto.Time)
	// Next tells of launchers that take over from the one before. An agent that has it looks for
	// the next launcher as long as it has its lease, also if the present one refuses it. nil: the
	// agent ends with its launcher.
	Next <-chan Successor
	// Lease is what lets the processes live. nil: the launcher grants it.
	Lease Lease
	// Peers, if given, joins the agent with others when the launcher says so; then Next and Lease
	// are theirs.
	Peers Peers
	// Page, if given, shows the job to people.
	Page  Page
	build string // for tests; empty: this program's
	// lookup finds the addresses of names, for tests; nil: the resolver does.
	lookup func(ctx context.Context, host string) ([]string, error)
}

// Successor is a launcher that takes over.
type Successor struct {
	Term      uint64
	Addresses []string
}

// Lease is a lease that isn't the launcher's. Held says whether the processes may live.
type Lease interface{ Held() bool }

// unextended is an Extend that nobody wants to know.
func unextended(proto.Time) {}

// server is an agent at work.
type server struct {
	local    agent.Agent
	number   int
	instance uint64
	launcher uint64     // its instance
	early    proto.Time // how long before the lease's end it gives up
	link     *link.Link
	answers  atomic.Pointer[link.Out]
	over     context.CancelCauseFunc
	peers    Peers // nil: there are none
	requests requests
	page     Page                        // nil: it can't show the job
	here     atomic.Pointer[net.TCPAddr] // by which it reaches the launcher
	dialler  *dialler
	traces   traces
	starts   sync.RWMutex // held by each start that is under way

	mu     sync.Mutex
	lease  Lease // nil: holder
	holder *lease.Holder
	extend func(until proto.Time) // Config.Extend
	term   uint64                 // the highest that was heard
	procs  map[key]*served
	living int                      // processes whose end isn't known, and starts that are under way
	dead   chan struct{}            // made when the agent ends; closed when none lives
	drains map[uint64]chan struct{} // closed if the question is done away with
	ending bool
}

// Serve connects to the launcher and carries out what it says, until the launcher ends the agent:
// then the error is nil. It also ends when its lease is over, or ctx ends. In each case it closes
// c.Agent: no process is left.
func Serve(ctx context.Context, c Config) error {
	defer c.Agent.Close()
	s := &server{
		lease: c.Lease, peers: c.Peers, page: c.Page, local: c.Agent, number: c.Number, instance: newInstance(), procs: make(map[key]*served), drains: make(map[uint64]chan struct{}),
	}
	s.traces.sweep = c.Sweep
	defer s.traces.remove()
	d := &dialler{addresses: c.Addresses, changed: make(chan struct{}), key: c.Key, number: c.Number, build: buildOr(c.build), lookup: c.lookup}
	s.dialler = d
	if c.Next != nil {
		d.follow()
	}
	if c.Peers != nil {
		c.Next = c.Peers.Next()
	}
	first, err := s.find(ctx, d, cmp.Or(c.Limit, DefaultLimit))
	if err != nil {
		return err
	}
	if c.Charge != nil {
		c.Charge(Testimony{Addresses: c.Addresses, Number: c.Number, Instance: s.instance, Key: c.Key})
	}
	if c.Begun != nil {
		c.Begun()
	}
	grant := first.welcome.Grant
	if s.extend = c.Extend; s.extend == nil || c.Lease != nil {
		s.extend = unextended
	}
	s.early = lease.Renewal(grant.Length) / 2
	s.holder, s.term, s.launcher = lease.NewHolder(grant), first.welcome.Term, first.welcome.Instance
	s.extend(s.holder.Until())
	length := time.Duration(grant.Length)
	s.link = link.New(silence(length), s.heard)
	s.answers.Store(s.link.Out(messages, false))
	commands := s.link.In(messages)
	ctx, s.over = context.WithCancelCause(ctx)
	defer s.over(nil)
	var all sync.WaitGroup
	all.Go(func() { s.obey(commands) })
	all.Go(func() { s.renew(ctx, length) })
	all.Go(func() { s.connect(ctx, d, first) })
	all.Go(func() { s.patrol(ctx) })
	all.Go(func() { s.count(ctx) })
	all.Go(func() { s.succeed(ctx, d, &c) })
	<-ctx.Done()
	err = s.end(context.Cause(ctx))
	all.Wait()
	return err
}

// find finds the launcher for the first time.
func (s *server) find(ctx context.Context, d *dialler, limit time.Duration) (*connection, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := d.dial(limited, s.hello(d))
	switch {
	case err == nil && (c.welcome.Grant.Length < proto.Time(time.Millisecond) || c.welcome.Grant.At > deadline.Now()):
		c.Close()
		return nil, fmt.Errorf("the launcher at %v grants no lease", c.RemoteAddr())
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("no launcher within %v: %w", limit, err)
	}
	return nil, fmt.Errorf("the launcher at %w", err)
}

// hello makes greetings.
func (s *server) hello(d *dialler) func() wire.Greeting {
	return func() wire.Greeting {
		s.mu.Lock()
		defer s.mu.Unlock()
		g := wire.Greeting{Version: wire.Version, Build: d.build, Instance: s.instance, Term: s.term, Host: s.local.Host()}
		g.Request.At = deadline.Now()
		if s.holder != nil {
			g.Request = s.holder.Ask(g.Request.At)
		}
		return g
	}
}

// end ends all processes, and tells the launcher. It says that they are dead only if they are: one
// that hangs in the kernel doesn't die of a signal.
func (s *server) end(cause error) error {
	s.mu.Lock()
	s.ending = true // what ends now isn't told one by one
	s.dead = make(chan struct{})
	if s.living == 0 {
		close(s.dead)
	}
	for _, p := range s.procs {
		p.hangUp()
	}
	s.mu.Unlock()
	err := s.local.Close()
	select {
	case <-s.dead:
		s.goodbye(cause)
	case <-time.After(killLimit):
		err = fmt.Errorf("a process doesn't die within %v of SIGKILL", killLimit)
	}
	s.link.End(cause)
	if errors.Is(cause, errTold) {
		return err
	}
	return cause
}

// more says that a start begins. It returns false if the agent ends.
func (s *server) more() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.living++
	}
	return !s.ending
}

// fewer says that a process or a start has ended. The lock is held.
func (s *server) fewer() {
	if s.living--; s.living == 0 && s.ending {
		close(s.dead)
	}
}

// goodbye tells the launcher that all processes are dead, if there is a connection. It doesn't try
// for long.
func (s *server) goodbye(cause error) {
	text := cause.Error()
	switch {
	case errors.Is(cause, ErrLeaseOver):
		return // it can't be reached
	case errors.Is(cause, context.Canceled):
		text = "it was told to end by a signal"
	}
	s.say(wire.Message{Type: wire.Gone, Text: text})
	s.link.AwaitIdle(goodbyeLimit)
}

// heard takes a frame of no stream.
func (s *server) heard(f *wire.Frame) {
	if f.Kind == wire.Grant {
		s.granted(f.Grant)
	}
}

func (s *server) granted(g lease.Grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holder.Granted(deadline.Now(), g)
	s.extend(s.holder.Until())
}

// held says whether the agent has its lease, and will have it for a moment. If not, the agent ends.
func (s *server) held() bool {
	s.mu.Lock()
	voters, now := s.lease, deadline.Now()
	held := voters == nil && s.holder.Held(now+s.early)
	ending := !held || now+proto.Time(forewarning) >= s.holder.Until()
	s.mu.Unlock()
	switch {
	case voters != nil:
		held = voters.Held()
	case s.peers != nil:
		s.peers.Ending(ending)
	}
	if !held {
		s.over(ErrLeaseOver)
	}
	return held
}

// renew asks for the lease again and again, and sees its end.
func (s *server) renew(ctx context.Context, length time.Duration) {
	const looks = 5 // at the clock for each request
	period := time.Duration(lease.Renewal(proto.Time(length)))
	ticker := time.NewTicker(period / looks)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !s.held() {
			return
		}
		if n%looks == 0 {
			s.mu.Lock()
			q := s.holder.Ask(deadline.Now())
			s.mu.Unlock()
			s.link.Urge(wire.Frame{Kind: wire.Ask, Ask: q})
		}
	}
}

// connect carries the streams over one connection after the other.
func (s *server) connect(ctx context.Context, d *dialler, c *connection) {
	// Nothing more can be said, and nobody waits for an answer: the launcher hangs up when it has
	// heard that the agent ends.
	defer func() { s.link.End(context.Cause(ctx)) }()
	for {
		if a, is := c.LocalAddr().(*net.TCPAddr); is {
			s.here.Store(a)
		}
		err := s.link.Carry(c, c.reader)
		slog.Debug("connection ended", "agent", s.number, "err", err)
		switch {
		case ctx.Err() != nil || s.link.Err() != nil:
			return
		case errors.Is(err, wire.ErrCorrupt):
			s.over(fmt.Errorf("the launcher can't be understood: %w", err))
			return
		}
		if c, err = d.dial(ctx, s.hello(d)); err != nil {
			s.over(fmt.Errorf("the launcher at %w", err)) // does nothing if ctx has ended
			return
		}
		switch {
		case c.welcome.Instance == s.launcher:
			s.granted(c.welcome.Grant)
		case !d.following() || !s.isLater(c.welcome.Term) || c.welcome.Grant.Length < proto.Time(time.Millisecond):
			c.Close()
			s.over(errors.New("another launcher has come"))
			return
		default:
			s.restart(c.welcome)
		}
	}
}

// say tells the launcher something.
func (s *server) say(m wire.Message) {
	b, err := wire.AppendMessage(nil, &m)
	if err == nil {
		_, err = s.answers.Load().Write(b)
	}
	if err != nil {
		slog.Debug("unsaid", "agent", s.number, "message", m.Type, "err", err)
	}
}
