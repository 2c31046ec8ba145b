package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strings"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/runtime/handshake"
)

// Options are what a launcher may want otherwise. The zero value is fine.
type Options struct {
	// Term is the launcher's: agents refuse one of an older term. 0: 1.
	Term uint64
	// Lease is the length of the agents' leases. 0: DefaultLease.
	Lease time.Duration
	// Adopt admits agents that had another launcher before: see Remote.Adopt.
	Adopt bool
	// Verdicts says that agents that had another launcher before have their leases from others: a
	// host is lost when Remote.Lose says so, or its agent says that its processes are dead.
	Verdicts bool
	// Known are the instances of agents that an earlier launcher had, by number: their parents may
	// say that they are dead before they have come. No other agent of the number may come before
	// that, or Vacate.
	Known map[int]uint64
	// Note, if given, is told in one line why a connection was refused. Several goroutines
	// may call it.
	Note  func(text string)
	build string        // for tests; empty: this program's
	boot  string        // for tests; empty: this kernel's boot id
	rest  time.Duration // for tests; 0: restLimit
}

// Listener accepts the connections of a job's agents, and of none else.
type Listener struct {
	key      secure.Key
	options  Options
	instance uint64
	socket   net.Listener
	cancel   context.CancelFunc
	served   chan struct{}

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew when an agent has come or was refused
	agents   map[int]*Remote
	expected map[*Remote]bool // Expect has returned it
	known    map[int]uint64   // Options.Known, without those that are known to be dead
	dead     map[int]string   // those of Known that are dead
	refused  map[int]string   // why an agent was refused last; -1: one of unknown number
	noted    int              // notes of connections of unknown number
	closed   bool
}

// Listen opens a port for the agents that hold the key. The address is as net.Listen has it for
// TCP; ":0" is any free port of all addresses.
func Listen(address string, key secure.Key, o Options) (*Listener, error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("no port for the agents: %w", err)
	}
	return ListenOn(socket, key, o), nil
}

// ListenOn is Listen with a socket that is open.
func ListenOn(socket net.Listener, key secure.Key, o Options) *Listener {
	o.Term, o.Lease, o.build = max(o.Term, 1), cmp.Or(o.Lease, DefaultLease), buildOr(o.build)
	o.boot = cmp.Or(o.boot, bootID())
	if o.Note == nil {
		o.Note = func(string) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Listener{
		key: key, options: o, instance: newInstance(), socket: socket, cancel: cancel, served: make(chan struct{}),
		changed: make(chan struct{}), agents: make(map[int]*Remote), expected: make(map[*Remote]bool), refused: make(map[int]string),
		known: maps.Clone(o.Known), dead: make(map[int]string),
	}
	go func() {
		defer close(l.served)
		var gate handshake.Gate
		gate.Serve(ctx, socket, func(conn net.Conn, proven func()) { l.greet(ctx, conn, proven) }, func(err error) {
			slog.Debug("agents' listener", "err", err)
		})
	}()
	return l
}

// Port is the port's number.
func (l *Listener) Port() int { return l.socket.Addr().(*net.TCPAddr).Port }

// Addresses are where agents can find the listener, as HOST:PORT: what it was told to listen on,
// or all addresses of this host but those of the loopback, unless there are no others.
func (l *Listener) Addresses() []string {
	at := l.socket.Addr().(*net.TCPAddr)
	if !at.IP.IsUnspecified() {
		return []string{at.String()}
	}
	return Addresses(at.Port)
}

// Expect waits for the agent of a number. It returns each agent once: if the number's host is
// lost, the next Expect waits for another agent of that number. If none comes before ctx ends, the
// error says what is known. It is agent.ErrHostLost if an agent of Known is dead.
func (l *Listener) Expect(ctx context.Context, number int) (*Remote, error) {
	for {
		l.mu.Lock()
		r, changed, closed := l.agents[number], l.changed, l.closed
		if how, dead := l.dead[number]; dead {
			l.mu.Unlock()
			return nil, fmt.Errorf("%w: %s has died with its processes: %s", agent.ErrHostLost, agentName(number), how)
		}
		if r != nil && !l.expected[r] && r.Reason() == "" {
			l.expected[r] = true
			l.mu.Unlock()
			return r, nil
		}
		l.mu.Unlock()
		if closed {
			return nil, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, l.missing(number, ctx.Err())
		}
	}
}

// Next waits for an agent of whatever number that neither Expect nor Next has returned. Of several
// the one with the lowest number comes first.
func (l *Listener) Next(ctx context.Context) (*Remote, error) {
	for {
		l.mu.Lock()
		var next *Remote
		for number, r := range l.agents {
			if !l.expected[r] && r.Reason() == "" && (next == nil || number < next.number) {
				next = r
			}
		}
		if next != nil {
			l.expected[next] = true
		}
		changed, closed := l.changed, l.closed
		l.mu.Unlock()
		switch {
		case next != nil:
			return next, nil
		case closed:
			return nil, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Vacate says that an agent of Known is dead: another one of its number may come.
func (l *Listener) Vacate(number int, instance uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[number] == instance {
		delete(l.known, number)
	}
}

// ErrClosed ends what waits for agents when the listener is closed.
var ErrClosed = errors.New("the listener was closed")

// missing says what is known of an agent that hasn't come.
func (l *Listener) missing(number int, cause error) error {
	text := l.Missing(number)
	if errors.Is(cause, context.DeadlineExceeded) {
		text += " in time"
	}
	return fmt.Errorf("%s hasn't come: %s", agentName(number), text)
}

// Missing says what is known of an agent that hasn't come.
func (l *Listener) Missing(number int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := "it hasn't connected to " + strings.Join(l.Addresses(), " or ")
	if why, ok := l.refused[number]; ok {
		text = "it was refused: " + why
	} else if why, ok := l.refused[-1]; ok {
		text += "; a connection was refused: " + why
	}
	return text
}

// news wakes those that Expect an agent. The lock is held.
func (l *Listener) news() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// strangersNoted bounds the notes of connections of unknown number: there may be many.
const strangersNoted = 5

// refuse notes why a connection was refused; number is -1 if it isn't known. The same is noted
// once.
func (l *Listener) refuse(number int, from net.Addr, why string) {
	l.mu.Lock()
	known := l.refused[number] == why && number >= 0
	l.refused[number] = why
	if number < 0 {
		l.noted++
	}
	silent := l.closed || known || number < 0 && l.noted > strangersNoted
	l.mu.Unlock()
	if silent {
		return
	}
	name := "a connection"
	if number >= 0 {
		name = agentName(number)
	}
	l.options.Note(fmt.Sprintf("%s from %v was refused: %s", name, from, why))
}

// Abandon closes the port and all connections. The agents aren't told to end: another launcher may
// take over.
func (l *Listener) Abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.news()
	l.cancel()
	l.socket.Close()
	for _, r := range l.agents {
		r.abandon()
	}
}

// Close closes the port and all agents, at the same time. It waits for these as Remote.Close does,
// and returns their errors.
func (l *Listener) Close() error {
	l.mu.Lock()
	agents := make([]*Remote, 0, len(l.agents))
	for _, r := range l.agents {
		agents = append(agents, r)
	}
	again := l.closed
	l.closed = true
	if !again {
		l.news()
	}
	l.mu.Unlock()
	if again {
		return nil
	}
	errs := make([]error, len(agents))
	var all sync.WaitGroup
	for i, r := range agents {
		all.Go(func() { errs[i] = r.Close() })
	}
	all.Wait()
	l.cancel()
	l.socket.Close()
	<-l.served
	return errors.Join(errs...)
}
