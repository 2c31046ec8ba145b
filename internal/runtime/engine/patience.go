package engine

import (
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// A waiter that polls in vain first polls again at once, then offers its core to others
// between the polls, and at last blocks in the transport.
//
// Where the job has more processes than cores the others are mostly waiters, who
// give the core back within microseconds; to block and be woken takes tens of
// them. But a program that computes keeps an offered core for a whole time
// slice, some milliseconds, and a pair that plays ping-pong beside it would lose one at
// every turn. Who blocks doesn't: the kernel lets those who wake go first. So a yield that
// comes back late ends the yields for a while.
//
// Measured on 2 cores by a loop of barriers (bench messages has one), medians in µs, in a noisy
// neighbourhood; "computes": one shell loop beside the job.
//
//	processes                     2     4     8     16
//	alone, with 50 yields         5    18    83    240
//	alone, none                  19    87   225   1150
//	computes, with 50 yields   1600  1500   210
//	computes, none               11   140   290
//	computes, as here            20    35   250
const (
	// spins is how many polls a waiter makes at once, with a core to itself and
	// without; yields, before how many more it offers the core. 100 polls are some
	// microseconds, in which the answer to a small message comes if its rank runs;
	// should both share a core after all, each turn takes as much longer. 5,000 yields
	// that nobody takes are some milliseconds, in which the other end copies a large message: to
	// be woken after that would take as long as half a megabyte.
	spins                = 100
	spinsOversubscribed  = 4
	yields               = 5000
	yieldsOversubscribed = 50

	// lateYield is how long no waiter keeps a core.
	lateYield = proto.Time(time.Millisecond)
	// shortGrudge is for how long there are no yields after a late one. If then the
	// next is late it is twice that, and so on to longGrudge: each costs a time slice.
	shortGrudge = proto.Time(10 * time.Millisecond)
	longGrudge  = proto.Time(640 * time.Millisecond)
	// forgiving is how many yields in a row that weren't late end the growth.
	forgiving = 1000
)

// rivals is what a process knows of others that want its cores.
type rivals struct {
	until  proto.Time // no yields before
	grudge proto.Time // the last
	prompt int        // yields in a row that weren't late
}

// yielded notes how long a yield took.
func (r *rivals) yielded(before, after proto.Time) {
	if after-before < lateYield {
		if r.prompt++; r.prompt >= forgiving {
			r.grudge = 0
		}
		return
	}
	r.prompt = 0
	r.grudge = min(max(2*r.grudge, shortGrudge), longGrudge)
	r.until = after + r.grudge
}

// linger passes a moment after polls in vain, idle of them in a row. It returns false when
// it is time to block. The lock is held, but given up meanwhile if others want it.
func (e *Engine) linger(idle int) bool {
	limit, offers := spins, yields
	if e.cfg.Oversubscribed {
		limit, offers = spinsOversubscribed, yieldsOversubscribed
	}
	if idle <= limit {
		if e.wanted.Load() > 0 {
			e.mu.Unlock()
			yield()
			e.mu.Lock()
		}
		return true
	}
	if idle > limit+offers {
		return false
	}
	before := e.now()
	if before < e.rivals.until {
		return false
	}
	e.mu.Unlock()
	yield()
	e.mu.Lock()
	e.rivals.yielded(before, e.now())
	return true
}

// lock takes the engine's lock, and lets a waiter who spins with it know.
func (e *Engine) lock() {
	if !e.mu.TryLock() {
		e.wanted.Add(1)
		e.mu.Lock()
		e.wanted.Add(-1)
	}
}

// yield gives the core to another process that wants it.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
