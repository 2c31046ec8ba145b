package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/lease"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
)

// messages is the stream of what launcher and agent say to each other.
var messages = wire.Stream{Channel: wire.Control}

// closeLimit bounds how long Close waits for the agent's answer.
const closeLimit = 2 * time.Second

// errClosed ends what waits for an agent that was closed.
var errClosed = errors.New("the agent was closed")

// Remote is the agent of another host. It implements agent.Agent. Only Start and Close wait for
// the agent; they return when the host is lost.
type Remote struct {
	number   int
	instance uint64
	host     agent.Host
	boot     string // id of this side's kernel
	fresh    bool   // it had no launcher before
	term     uint64
	length   time.Duration // of its lease
	link     *link.Link
	commands *link.Out
	standing chan []wire.Standing // what runs there, if an earlier launcher has started it
	lost     chan struct{}        // closed when the host is lost
	ended    chan struct{}        // closed when nothing more comes from the agent

	mu      sync.Mutex
	granter *lease.Granter
	begun   bool         // it may have a lease from voters
	joined  bool         // it has its lease from them, and from nobody else
	verdict string       // why the voters hold it for lost
	delays  []proto.Time // of the last requests: our clock at their arrival, minus the agent's at their sending
	asked   uint64       // number of the last question
	answers map[uint64]chan wire.Message
	procs   map[key]*process
	reason  string // why the host is lost
	reaped  bool   // it is lost, and its processes were reaped
	bad     error  // the agent has sent what makes no sense; it gets no more leases
	closing bool
	answer  func(request []byte) []byte // answers requests from there; nil: nobody does
}

// key names a process.
type key struct {
	proc        proto.Proc
	incarnation proto.Incarnation
}

// stream names one of its streams.
func (k key) stream(c wire.Channel) wire.Stream {
	return wire.Stream{Proc: k.proc, Incarnation: k.incarnation, Channel: c}
}

// newRemote makes the launcher's side of an agent that has said hello.
func newRemote(number int, hello wire.Greeting, o Options) *Remote {
	leased := o.Verdicts && hello.Request.Has != 0 // it has its lease from others, unless it is new
	r := &Remote{
		number: number, instance: hello.Instance, host: hello.Host, boot: o.boot, fresh: hello.Request.Has == 0, term: o.Term, length: o.Lease,
		begun: leased, joined: leased, standing: make(chan []wire.Standing, 1), lost: make(chan struct{}), ended: make(chan struct{}),
		granter: lease.NewGranter(deadline.Now(), proto.Time(o.Lease)),
		answers: make(map[uint64]chan wire.Message), procs: make(map[key]*process),
		delays: []proto.Time{deadline.Now() - hello.Request.At}, // it may be traced before the request is taken
	}
	r.link = link.New(silence(o.Lease), r.heard)
	r.commands = r.link.Out(messages, false)
	go r.listen(r.link.In(messages))
	if !leased {
		go r.watch()
	}
	return r
}

// Number is the agent's number.
func (r *Remote) Number() int { return r.number }

// New says that the agent had no launcher before this one.
func (r *Remote) New() bool { return r.fresh }

// Host implements agent.Agent.
func (r *Remote) Host() agent.Host { return r.host }

// Lost implements agent.Agent.
func (r *Remote) Lost() <-chan struct{} { return r.lost }

// Reason says in words why the host is lost; empty if it isn't.
func (r *Remote) Reason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// Reaped says that the host is lost and that its processes were seen to end, by their agent or its
// parent. Otherwise they are presumed dead, because the agent's lease is over.
func (r *Remote) Reaped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reaped
}

// request takes an agent's request for a lease. It returns false if the agent gets none, because
// it is held for dead.
func (r *Remote) request(q lease.Request) (lease.Grant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := deadline.Now()
	const kept = 16
	if r.delays = append(r.delays, now-q.At); len(r.delays) > kept {
		r.delays = r.delays[1:]
	}
	if r.bad != nil || r.closing {
		return lease.Grant{}, false
	}
	if r.joined { // it has its lease from others
		return lease.Grant{At: q.At, Length: proto.Time(r.length)}, true
	}
	return r.granter.Asked(now, q)
}

// heard takes a frame of no stream.
func (r *Remote) heard(f *wire.Frame) {
	if f.Kind != wire.Ask {
		return
	}
	if g, ok := r.request(f.Ask); ok {
		r.link.Urge(wire.Frame{Kind: wire.Grant, Grant: g})
	}
}

// watch waits until all leases are over.
func (r *Remote) watch() {
	look := time.Duration(lease.Renewal(proto.Time(r.length)))
	for next := look; ; {
		select {
		case <-r.link.Done():
			return
		case <-time.After(next):
		}
		r.mu.Lock()
		now := deadline.Now()
		over, bad, verdict := r.granter.Over(now), r.bad, r.verdict
		joined, begun := r.joined, r.begun
		next = min(look, max(time.Millisecond, time.Duration(r.granter.End()-now)))
		r.mu.Unlock()
		switch {
		case joined:
			return
		case begun && verdict == "": // it may have a lease from the voters
		case over && begun:
			r.lose(verdict, false)
		case over && bad != nil:
			r.lose(fmt.Sprintf("its agent can't be understood (%v), and got no more leases", bad), false)
		case over:
			r.lose(fmt.Sprintf("nothing was heard from its agent for %v, and its lease is over", patience(r.length)), false)
		}
	}
}

// lose declares the host lost. reaped says that its processes were seen to end.
func (r *Remote) lose(reason string, reaped bool) {
	r.mu.Lock()
	first := r.reason == "" && !r.closing
	if first {
		r.reason, r.reaped = reason, reaped
	}
	r.mu.Unlock()
	if !first {
		return
	}
	slog.Debug("host lost", "agent", r.number, "host", r.host.Name, "reason", reason)
	r.link.End(agent.ErrHostLost) // first: what waits for a stream must find its end
	close(r.lost)
}

// carry carries the streams over a connection until that breaks.
func (r *Remote) carry(connection func() error) {
	err := connection()
	slog.Debug("connection ended", "agent", r.number, "host", r.host.Name, "err", err)
	if errors.Is(err, wire.ErrCorrupt) {
		r.distrust(err)
	}
}

// distrust gives the agent no more leases.
func (r *Remote) distrust(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad == nil {
		r.bad = err
	}
}

// say sends a command.
func (r *Remote) say(m wire.Message) error {
	m.Term = r.term
	b, err := wire.AppendMessage(nil, &m)
	if err != nil {
		return err
	}
	_, err = r.commands.Write(b)
	return err
}

// ask sends a question. The answer comes on the channel, if it comes.
func (r *Remote) ask(m wire.Message) (number uint64, answer <-chan wire.Message, err error) {
	return r.askWith(m, func(uint64) {})
}

// askWith calls prepare with the question's number before it sends the question.
func (r *Remote) askWith(m wire.Message, prepare func(number uint64)) (number uint64, answer <-chan wire.Message, err error) {
	m.Ask, answer = r.expect()
	prepare(m.Ask)
	if err = r.say(m); err != nil {
		r.forget(m.Ask)
	}
	return m.Ask, answer, err
}

// expect numbers a question, whose answer comes on the channel.
func (r *Remote) expect() (number uint64, answer <-chan wire.Message) {
	c := make(chan wire.Message, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	r.answers[r.asked] = c
	return r.asked, c
}

// forget does away with a question.
func (r *Remote) forget(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, number)
}

// await asks a question and waits for the answer. The error is agent.ErrHostLost or errClosed if
// none comes.
func (r *Remote) await(m wire.Message) (wire.Message, error) {
	return r.awaitWithin(context.Background(), m)
}

// awaitWithin is await, until ctx ends.
func (r *Remote) awaitWithin(ctx context.Context, m wire.Message) (wire.Message, error) {
	number, answer, err := r.ask(m)
	if err != nil {
		return m, err
	}
	select {
	case m = <-answer:
		return m, nil
	case <-ctx.Done():
		r.forget(number)
		return m, ctx.Err()
	case <-r.ended:
	}
	select {
	case m = <-answer:
		return m, nil
	default:
		return m, r.link.Err()
	}
}

// listen takes what the agent says, until all has been read that comes.
func (r *Remote) listen(in io.Reader) {
	defer close(r.ended)
	for {
		m, err := wire.ReadMessage(in)
		if err == nil {
			err = r.take(m)
		}
		switch {
		case errors.Is(err, wire.ErrCorrupt):
			r.distrust(err)
			r.link.Cut()
			<-r.link.Done()
			return
		case err != nil:
			return
		}
	}
}

// take takes a message. One of no known type is an error, also for who waits for it as an answer.
func (r *Remote) take(m wire.Message) error {
	switch m.Type {
	case wire.Joined:
		r.hasJoined()
	case wire.Started, wire.Failed, wire.Taken, wire.Drained, wire.Adopted, wire.Opened, wire.PartDigested, wire.PartRead, wire.PartReady, wire.PartWritten, wire.Showing, wire.Recorded:
		r.resolve(m)
	case wire.Stands:
		select {
		case r.standing <- m.Standing:
		default: // it has said so
		}
	case wire.Gone:
		if r.isClosing() {
			r.link.End(errClosed)
		} else {
			r.lose("its agent has killed its processes, because "+m.Text, true)
		}
	case wire.Request:
		r.requested(m)
	case wire.News, wire.Exited, wire.Counted:
		r.mu.Lock()
		p := r.procs[key{m.Proc, m.Incarnation}]
		r.mu.Unlock()
		if p != nil {
			p.take(m)
		}
	default:
		err := fmt.Errorf("%w: a message of type %.100q", wire.ErrCorrupt, m.Type)
		r.resolve(wire.Message{Type: wire.Failed, Ask: m.Ask, Text: err.Error()})
		return err
	}
	return nil
}

// resolve passes an answer to who has asked.
func (r *Remote) resolve(m wire.Message) {
	r.mu.Lock()
	c := r.answers[m.Ask]
	delete(r.answers, m.Ask)
	r.mu.Unlock()
	if c != nil {
		c <- m
	}
}

func (r *Remote) isClosing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closing
}

// Start implements agent.Agent. It waits for the agent.
func (r *Remote) Start(specs []agent.Spec) ([]agent.Process, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	started := make([]*process, len(specs))
	for i, s := range specs {
		started[i] = r.newProcess(s)
	}
	answer, err := r.await(wire.Message{Type: wire.Start, Start: wire.Pack(r.recorded(specs))})
	switch {
	case err != nil:
	case answer.Type == wire.Failed && answer.Errno != 0:
		err = &agent.StartError{Proc: answer.Proc, Op: answer.Op, Err: syscall.Errno(answer.Errno)}
	case answer.Type == wire.Failed:
		err = errors.New(answer.Text)
	case len(answer.Pids) != len(specs):
		err = fmt.Errorf("%s has started %d processes, not %d", agentName(r.number), len(answer.Pids), len(specs))
	}
	if err != nil {
		for _, p := range started {
			p.discard()
		}
		return nil, err
	}
	procs := make([]agent.Process, len(specs))
	for i, p := range started {
		p.pid = answer.Pids[i]
		procs[i] = p
	}
	return procs, nil
}

// abandon ends what is here of an agent.
func (r *Remote) abandon() {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.link.End(errClosed)
}

// Close implements agent.Agent. It waits up to two seconds for the agent. If that doesn't answer,
// its processes end with its lease.
func (r *Remote) Close() error {
	r.mu.Lock()
	again := r.closing || r.reason != ""
	r.closing = true
	r.mu.Unlock()
	if again {
		return nil
	}
	err := r.say(wire.Message{Type: wire.Close})
	if err == nil {
		select {
		case <-r.link.Done():
		case <-time.After(closeLimit):
			err = fmt.Errorf("%s on %s doesn't answer: its processes end within %v, with its lease", agentName(r.number), r.host.Name, r.length)
		}
	}
	r.link.End(errClosed)
	return err
}
