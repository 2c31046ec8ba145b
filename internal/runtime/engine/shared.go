package engine

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/cells"
	"banyan/internal/runtime/commons"
	"banyan/internal/runtime/process"
)

// Shared is a communicator's common memory, with what its calls need.
type Shared struct {
	*commons.Memory
	Context uint64
	Members []proto.Rank // in the world
	Agrees  bool         // it is for agreements
}

// Taker reads what others have given in a call, when all have.
type Taker interface {
	Take(s *commons.Memory)
}

// sharedCall is a call that waits.
type sharedCall struct {
	name string
	in   *Shared
}

// CanShare tells whether this process may take part in collectives through shared memory: nothing
// has to see or count its messages.
func (e *Engine) CanShare() bool {
	return e.cfg.BeforeSend == nil && e.cfg.Process.Recorder == nil && e.cfg.Calls == nil
}

// Uncounted runs what sends messages that aren't the program's: a fault plan doesn't count them.
func (e *Engine) Uncounted(run func()) {
	e.lock()
	before, n := e.cfg.BeforeSend, e.sends
	e.cfg.BeforeSend = nil
	e.unlock()
	run()
	e.lock()
	e.cfg.BeforeSend, e.sends = before, n
	e.unlock()
}

// sharedSpins is how often a member looks at once, without a poll, at what it waits for, where
// each process has a core: about as long as others that called at the same time need.
const sharedSpins = 200

// Share takes part in a call through a communicator's common memory, and waits for its end. The
// thread that waits polls the transport as in every wait: deaths, heartbeats and other messages go
// on.
func (e *Engine) Share(x *Shared, name string, c commons.Call, t Taker) error {
	e.lock()
	if x.Running() {
		e.until(func() bool { return !x.Running() }) // another thread, although MPI forbids that
	}
	err := error(nil)
	if e.closed {
		err = process.ErrClosed
	} else if !e.p.Undisturbed(x.Context) {
		err = e.cantShare(x)
	}
	if err == nil {
		x.Begin(c)
		if e.spinShared(x, t) != commons.Ended {
			err = e.waitShared(sharedCall{name, x}, t)
		}
		if err == nil {
			err = x.outcome(c.Size)
		} else {
			x.End()
		}
		e.rouse()
	}
	e.unlock()
	return err
}

// cantShare tells the common memory who is dead. It is an error if this process can't go on.
func (e *Engine) cantShare(x *Shared) error {
	if x.Agrees {
		return e.tellPact(x)
	}
	for i, r := range x.Members {
		if e.p.RankLost(r) {
			x.Gone(i)
		}
	}
	return e.p.ContextError(x.Context)
}

// spinShared goes on with a call, and looks again some times before it gives up.
func (e *Engine) spinShared(x *Shared, t Taker) commons.State {
	state := e.advanceShared(x, t)
	if e.cfg.oversubscribed() {
		return state
	}
	for n := 0; state == commons.Waits && n < sharedSpins; n++ {
		state = e.advanceShared(x, t)
	}
	return state
}

// advanceShared goes on with a call until it waits, may sleep, or has ended. The lock is held.
func (e *Engine) advanceShared(x *Shared, t Taker) commons.State {
	for {
		switch s := x.Go(); s {
		case commons.Reads:
			t.Take(x.Memory)
			x.Done()
		case commons.Wakes:
			e.p.Nudge(x.Members[x.Subject()])
			x.Done()
		default:
			return s
		}
	}
}

// waitShared makes progress until a call has ended, or this process can't go on. The lock is held,
// but given up again and again.
func (e *Engine) waitShared(c sharedCall, t Taker) (err error) {
	x := c.in
	e.alongside()
	e.waiting.threads++
	e.sharing = append(e.sharing, c)
	idle := 0
	if e.cfg.oversubscribed() {
		idle = spinsOversubscribed // the others need this core
	}
	asked := proto.Rank(-1) // whom it waits for asleep: the process asks whether that one is through
	for {
		state := commons.Waits
		if len(e.running.lent) > 0 && e.help(true) || e.step() > 0 {
			idle = 0
		} else if idle++; !e.linger(idle) {
			x.Doze()
			if state = e.advanceShared(x, t); state == commons.Sleeps {
				asked = e.ask(x, asked, x.Members[x.Subject()])
				e.block()
			}
		}
		if e.closed {
			err = process.ErrClosed
			break
		}
		if x.Agrees && (e.Disturbed() || e.p.Forlorn()) || !e.p.Undisturbed(x.Context) {
			if err = e.cantShare(x); err != nil {
				break
			}
		}
		if state != commons.Ended {
			state = e.advanceShared(x, t)
		}
		if state == commons.Ended {
			break
		}
		if e.p.Forlorn() && !x.Agrees {
			if err = e.p.Finished(x.Members[x.Subject()]); err != nil {
				break
			}
		}
	}
	e.ask(x, asked, -1)
	for i := range e.sharing {
		if e.sharing[i] == c {
			e.sharing = append(e.sharing[:i], e.sharing[i+1:]...)
			break
		}
	}
	e.waiting.threads--
	if e.waiting.threads > 0 {
		e.passOn()
	}
	return err
}

// ask has the process ask, after a while, whether a rank is through, in place of another one; -1 is
// none. It returns the rank.
func (e *Engine) ask(x *Shared, before, now proto.Rank) proto.Rank {
	if before == now {
		return now
	}
	if before >= 0 {
		e.p.EndProbe(x.Context, before, process.NoMessage)
	}
	if now >= 0 {
		e.p.StartProbe(x.Context, now, process.NoMessage)
	}
	return now
}

// nudged has all threads look again that wait for stores of other members: what the transport has
// brought to this thread may have been a nudge for one of them. The lock is held.
func (e *Engine) nudged() {
	e.rouse()
	if e.waiting.sleeping {
		e.tr.Wake()
	}
}

// outcome ends a call, in which size bytes were expected.
func (x *Shared) outcome(size int) error {
	switch o, culprit, has := x.End(); o {
	case cells.Lost:
		return &process.LostError{Rank: x.Members[culprit]}
	case cells.Fenced:
		return process.ErrFenced
	case cells.Mismatch:
		if has == size {
			return process.ErrMismatch
		}
		return &process.SizeError{Source: x.Members[culprit], Has: has, Fit: size, Err: process.ErrMismatch}
	}
	return nil
}

// String says what the call waits for.
func (c sharedCall) String() string {
	if c.in.Agrees {
		return fmt.Sprintf("for %v in an agreement", c.in.Members[c.in.Subject()])
	}
	return fmt.Sprintf("for %v to call it", c.in.Members[c.in.Subject()])
}
