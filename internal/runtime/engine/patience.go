package engine

import (
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// A waiter that polls in vain first polls again at once. Then it offers its core to others between
// its polls. At last it blocks in the transport.
//
// Where the job has more processes than cores, most of the others are waiters too, which give the
// core back within microseconds; to block and be woken takes tens of microseconds. But a program
// that computes keeps an offered core for a whole time slice of some milliseconds. A pair that
// plays ping-pong beside it would lose a slice at every turn if it yielded. A waiter that blocks
// loses none, since the kernel prefers threads that wake. So a yield that comes back late ends the
// yields for a while.
//
// A yield reaches only processes of its own control group or, where the kernel groups processes by
// session (sched_autogroup_enabled), of its own session. Ranks of two groups that share cores
// therefore poll for whole time slices against each other, and nothing here notices: their yields
// come back at once.
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
	// spins is how many polls a waiter makes at once; yields is how many more it makes with an
	// offer of its core before each. The second value of each is for hosts with fewer cores
	// than processes. 100 polls take some microseconds: in that time the answer to a small
	// message comes, if the other rank runs. If both ranks share a core, each turn takes that
	// much longer. 5,000 yields that nobody accepts take some milliseconds: in that time the
	// other end copies a large message. Being woken after that would cost as much as half a
	// megabyte more.
	spins                = 100
	spinsOversubscribed  = 4
	yields               = 5000
	yieldsOversubscribed = 50
	// reliefPolls is how many polls a sender makes that finds a ring full: some ten
	// microseconds.
	reliefPolls = 200

	// lateYield is longer than fewWaiters keep a core. Each of more takes its turn too.
	lateYield  = time.Millisecond
	fewWaiters = 4
	// firstPause is how long a waiter makes no yields after a late one. Each late yield costs a
	// time slice, so every further one doubles the pause, up to longestPause.
	firstPause   = proto.Time(10 * time.Millisecond)
	longestPause = proto.Time(640 * time.Millisecond)
	// promptYields is how many yields in a row that weren't late end the doubling.
	promptYields = 1000
)

func (c *Config) oversubscribed() bool { return c.Crowd > 1 }

// late is how long a yield takes after which somebody seems to compute on this core. A yield among
// many waiters takes as long as all of them take. With one limit for any number, 64 processes on
// two cores took each other for programs that compute, and blocked: a barrier took ten times as
// long (docs/results/broadcast-bench.md).
func (c *Config) late() time.Duration { return lateYield * time.Duration(max(1, c.Crowd/fewWaiters)) }

// rivals is what this process knows of other programs that want its cores.
type rivals struct {
	late   proto.Time // a yield that takes so long is late
	until  proto.Time // no yields before
	pause  proto.Time // the last one
	prompt int        // yields in a row that weren't late
}

// yielded notes how long a yield took.
func (r *rivals) yielded(before, after proto.Time) {
	if after-before < r.late {
		r.promptly(1)
		return
	}
	r.prompt = 0
	r.pause = min(max(2*r.pause, firstPause), longestPause)
	r.until = after + r.pause
}

// promptly notes yields in a row that weren't late.
func (r *rivals) promptly(n int) {
	if r.prompt += n; r.prompt >= promptYields {
		r.pause = 0
	}
}

// linger passes a moment after polls in vain, of which there were idle in a row. It returns false
// when it is time to block. The lock is held, but given up meanwhile if others want it.
func (e *Engine) linger(idle int) bool {
	limit, offers := spins, yields
	if e.cfg.oversubscribed() {
		limit, offers = spinsOversubscribed, yieldsOversubscribed
	}
	if idle <= limit {
		if e.mu.Wanted() {
			e.mu.Unlock()
			yield()
			e.lock()
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
	e.lock()
	e.rivals.yielded(before, e.now())
	return true
}

// yield gives the core to another process that wants it.
func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
