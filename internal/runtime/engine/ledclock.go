package engine

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"banyan/internal/runtime/process"
)

// Clock is a clock of the program's, by its number in C (CLOCK_REALTIME is 0), or one of this
// library's own.
type Clock int32

const (
	// CalendarClock tells the time of day.
	CalendarClock Clock = 0
	// WtimeClock is MPI_Wtime's.
	WtimeClock Clock = 1 << 20
)

// ledClock lets a clock go on at the replica that leads next, whose own may tell another time:
// clocks of hosts and of processes began at different times.
type ledClock struct {
	last  int64 // what it has told
	ahead int64 // of this process's own
	fresh bool  // it has told last at a donor, whose own tells another time
}

// common says that hosts' clocks of this kind tell the same time. Such a clock doesn't go
// back.
func (c Clock) common() bool {
	const coarse, alarm, tai = 5, 8, 11 // CLOCK_REALTIME_COARSE and so on
	return c == CalendarClock || c == coarse || c == alarm || c == tai
}

// tells is what the clock tells where this process's own tells own.
func (k *ledClock) tells(c Clock, own int64) int64 {
	if k.fresh && !c.common() {
		k.ahead = k.last - own
	}
	k.fresh = false
	return max(k.last, own+k.ahead)
}

// goOn has the clock go on from what it has told at the donor of this process.
func (k *ledClock) goOn(last int64) { k.last, k.fresh = last, true }

// told notes what another replica's clock has told.
func (k *ledClock) told(c Clock, word, own int64) {
	k.fresh = false
	if k.last = max(k.last, word); !c.common() {
		k.ahead = word - own
	}
}

// Clock is what a clock tells, in nanoseconds: the same at all replicas of the rank. now reads this
// process's own, without the engine.
func (e *Engine) Clock(c Clock, now func() int64) int64 {
	e.lock()
	defer e.unlock()
	if !e.led {
		return now()
	}
	k := e.clock(c)
	decided := false
	word := int64(e.valueOf(process.AskTime, func() uint64 {
		decided = true
		k.last = k.tells(c, now())
		return uint64(k.last)
	}))
	if !decided {
		k.told(c, word, now())
	}
	return word
}

// clock is a clock of the program's.
func (e *Engine) clock(c Clock) *ledClock {
	k := e.clocks[c]
	if k == nil {
		if e.clocks == nil {
			e.clocks = map[Clock]*ledClock{}
		}
		k = &ledClock{last: math.MinInt64}
		e.clocks[c] = k
	}
	return k
}

// seedSize is how many random bytes replicas tell each other at most for a call.
const seedSize = 32

// Random makes random bytes the same at all replicas of the rank: the first ones of one of them,
// and what follows from these.
func (e *Engine) Random(b []byte) {
	var seed [seedSize]byte
	n := copy(seed[:], b)
	for at := 0; at < n; at += 8 {
		binary.LittleEndian.PutUint64(seed[at:], e.Value(func() uint64 { return binary.LittleEndian.Uint64(seed[at:]) }))
	}
	if len(b) <= seedSize {
		copy(b, seed[:])
		return
	}
	stream := rand.NewChaCha8(seed)
	stream.Read(b) // it never fails
}
