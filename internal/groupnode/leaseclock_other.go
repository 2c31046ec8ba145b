//go:build !linux

package groupnode

import (
	"sync"
	"time"

	"banyan/internal/proto"
)

// steady never goes back, and is never slower than the clock of the day nor than that of the
// process, of which either may stand still: the one when it is set back, the other while the host
// sleeps.
var steady struct {
	sync.Mutex
	last time.Time
	at   time.Duration
}

// leaseClock is the time that has passed, also while the host slept.
func leaseClock() proto.Time {
	steady.Lock()
	defer steady.Unlock()
	now := time.Now()
	if !steady.last.IsZero() {
		steady.at += max(now.Sub(steady.last), now.Round(0).Sub(steady.last.Round(0)))
	}
	steady.last = now
	return proto.Time(steady.at)
}
