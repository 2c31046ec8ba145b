package launcher

import (
	"io"
	"sync"

	"banyan/internal/job/console"
)

// feeder copies one input to several sinks. Each sink reads at its own pace. When the slowest sink
// is limit bytes behind the input, the feeder stops reading the input. A sink whose Write fails has
// gone.
//
// A replacement's sink begins at the input's first byte. So the feeder keeps the whole input, up to
// kept bytes. It doesn't wait for a replacement until that has caught up (see caughtUp).
type feeder struct {
	limit, kept int

	mu      sync.Mutex
	changed sync.Cond
	buf     []byte // of the input, from byte base on
	base    int64
	eof     bool
	sinks   []sink
}

type sink struct {
	w           io.WriteCloser
	at          int64 // next byte of the input
	gone        bool
	lost        func() // of a replacement: called when the input it needs isn't kept any more; else nil
	incarnation int    // how many writers the sink had before
}

// newFeeder makes a feeder. It closes each sink that has the whole input.
func newFeeder(limit, kept int, sinks []sink) *feeder {
	f := &feeder{limit: limit, kept: kept, sinks: sinks}
	f.changed.L = &f.mu
	return f
}

// run feeds the sinks until the input ends or all sinks have gone.
func (f *feeder) run(input io.Reader) {
	for i := range f.sinks {
		go f.drain(i, 0)
	}
	chunk := make([]byte, 32<<10)
	for {
		n, err := input.Read(chunk)
		f.mu.Lock()
		f.buf = append(f.buf, chunk[:n]...)
		gap, skips := err.(console.InputGap)
		if skips {
			f.skip(gap.At)
			err = nil
		}
		f.eof = err != nil
		f.forget()
		f.changed.Broadcast()
		for f.end()-f.slowest() >= int64(f.limit) && f.anySink() {
			f.changed.Wait()
		}
		stop := f.eof || !f.anySink() && !f.keepsAll()
		f.mu.Unlock()
		if stop {
			return
		}
	}
}

// skip has the input go on at a later byte. Sinks that would need what is before it get no more.
// The lock is held.
func (f *feeder) skip(to int64) {
	if to <= f.end() {
		return
	}
	f.buf, f.base = nil, to
	for i := range f.sinks {
		if s := &f.sinks[i]; !s.gone && s.at < to {
			if s.lost != nil {
				go s.lost()
			}
			f.drop(i)
		}
	}
}

// end is how long the input is so far. The lock is held.
func (f *feeder) end() int64 { return f.base + int64(len(f.buf)) }

// keepsAll says whether the whole input is kept, so that a replacement can begin. The lock is held.
func (f *feeder) keepsAll() bool { return f.base == 0 && len(f.buf) <= f.kept }

// slowest is the position of the slowest sink for which the input waits. The lock is held.
func (f *feeder) slowest() int64 {
	at := f.end()
	for i := range f.sinks {
		if s := &f.sinks[i]; !s.gone && s.lost == nil {
			at = min(at, s.at)
		}
	}
	return at
}

// forget gives up replacements for which more than kept bytes would have to be kept. The lock is
// held.
func (f *feeder) forget() {
	for i := range f.sinks {
		if s := &f.sinks[i]; !s.gone && s.lost != nil && f.end()-s.at > int64(f.kept) {
			go s.lost()
			f.drop(i)
		}
	}
	f.trim()
}

// remove closes a sink and forgets it, even while it is being written to.
func (f *feeder) remove(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(i)
}

// drop is remove. The lock is held.
func (f *feeder) drop(i int) {
	if s := &f.sinks[i]; !s.gone {
		s.gone = true
		s.w.Close()
		f.trim()
		f.changed.Broadcast()
	}
}

// replace gives a sink that has gone a new writer, which gets the input from its first byte on. It
// returns false if the whole input isn't kept any more. If that happens later, before the sink has
// caught up, lost is called on a goroutine of its own.
func (f *feeder) replace(i int, next sink, lost func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sinks[i]
	next.incarnation, next.lost = s.incarnation+1, lost
	*s = next
	if !f.keepsAll() {
		f.drop(i)
		return false
	}
	go f.drain(i, s.incarnation)
	return true
}

// caughtUp says that a replacement has come to where the others are.
func (f *feeder) caughtUp(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sinks[i].lost = nil
}

// drain writes to one sink, as long as it has its writer.
func (f *feeder) drain(i, incarnation int) {
	chunk := make([]byte, 32<<10)
	s := &f.sinks[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	for s.incarnation == incarnation {
		// After another launcher has taken over a sink may be ahead of what has come again.
		for s.at >= f.end() && !f.eof && !s.gone && s.incarnation == incarnation {
			f.changed.Wait()
		}
		n := 0
		if s.incarnation == incarnation && !s.gone && s.at < f.end() { // otherwise base may be beyond at
			n = copy(chunk, f.buf[s.at-f.base:])
		}
		if n == 0 {
			break
		}
		w := s.w
		f.mu.Unlock()
		n, err := w.Write(chunk[:n])
		f.mu.Lock()
		if s.incarnation != incarnation {
			return
		}
		s.at += int64(n)
		f.trim()
		f.changed.Broadcast()
		if err != nil {
			break
		}
	}
	if s.incarnation == incarnation {
		f.drop(i)
	}
}

// anySink says whether a sink is left. The lock is held.
func (f *feeder) anySink() bool {
	for i := range f.sinks {
		if !f.sinks[i].gone {
			return true
		}
	}
	return false
}

// trim drops the input that no sink needs any more. The lock is held.
func (f *feeder) trim() {
	if f.keepsAll() {
		return
	}
	least := f.end()
	for i := range f.sinks {
		if !f.sinks[i].gone {
			least = min(least, f.sinks[i].at)
		}
	}
	n := int(least - f.base)
	if n < len(f.buf)/2 {
		return // moving what is kept, which may be much, for each chunk would cost too much
	}
	f.buf = append(f.buf[:0], f.buf[n:]...)
	f.base = least
}
