package engine

import (
	"time"

	"banyan/internal/proto"
)

// polling is what the engine knows of the program's tests: MPI_Test, MPI_Iprobe and the like.
type polling struct {
	empty  int        // tests in a row that found nothing
	last   proto.Time // the end of the last of them
	napped proto.Time // the end of the last sleep in a test
}

// try makes one step for a program that tests. Programs test in loops: after some tests in vain
// the engine offers the core to others, and later sleeps for a moment. A program that works
// between its tests keeps its core; so does every program for a while after each sleep, since it
// may work a little between its tests.
func (e *Engine) try() {
	e.alongside()
	if e.closed || e.help(true) || e.step() > 0 {
		e.polling.empty = 0
		return
	}
	if e.polling.empty++; e.polling.empty <= spinsOversubscribed {
		return
	}
	e.p.Stalled()
	if e.now()-e.polling.last > workBetween {
		e.polling.empty = spinsOversubscribed
	}
	if !e.linger(e.polling.empty) && !e.waiting.sleeping && e.now()-e.polling.napped >= workBetween {
		e.sleep(e.tr.Wait, min(e.untilDeadline(), testSleep))
		e.polling.napped = e.now()
	}
	e.polling.last = e.now()
}

const (
	// testSleep bounds how long a test may sleep.
	testSleep = 100 * time.Microsecond
	// workBetween is the time between two tests from which on the program counts as working.
	workBetween = proto.Time(10 * time.Microsecond)
)
