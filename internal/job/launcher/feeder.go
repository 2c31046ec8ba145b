package launcher

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// feeder copies one input to several sinks. Each goes at its own pace, until
// the slowest of those still there is limit bytes behind the fastest; then
// the input waits. A sink whose Write fails has gone.
//
// A replacement's sink begins at the input's first byte, so all of the input is kept, up to kept bytes. It keeps
// nobody waiting until it has caught up (see settle).
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
	w           inputPipe
	otherEnd    syscall.RawConn // the other end of w, if the sink may be asked what is taken; or nil
	at          int64           // next byte of the input
	gone        bool
	writing     bool
	asked       bool   // what is taken: nothing may be written meanwhile
	lost        func() // of a replacement, to be called if it can't have what it needs; else nil
	incarnation int    // how many writers there were before
}

// inputPipe is the end of a pipe.
type inputPipe interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// newFeeder makes a feeder. Each sink is closed when it has got all.
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
		f.eof = err != nil
		f.forget()
		f.changed.Broadcast()
		for f.end()-f.slowest() >= int64(f.limit) && f.any() {
			f.changed.Wait()
		}
		stop := f.eof || !f.any() && !f.keeps()
		f.mu.Unlock()
		if stop {
			return
		}
	}
}

// end is how long the input is so far. The lock is held.
func (f *feeder) end() int64 { return f.base + int64(len(f.buf)) }

// keeps says whether a replacement could begin. The lock is held.
func (f *feeder) keeps() bool { return f.base == 0 && len(f.buf) <= f.kept }

// slowest is where the slowest sink is that may keep the input waiting. The lock is held.
func (f *feeder) slowest() int64 {
	at := f.end()
	for i := range f.sinks {
		if s := &f.sinks[i]; !s.gone && s.lost == nil {
			at = min(at, s.at)
		}
	}
	return at
}

// forget gives up replacements for whom too much would have to be kept. The lock is held.
func (f *feeder) forget() {
	for i := range f.sinks {
		if s := &f.sinks[i]; !s.gone && s.lost != nil && f.end()-s.at > int64(f.kept) {
			go s.lost()
			f.drop(i)
		}
	}
	f.trim()
}

// remove closes a sink and forgets it, also while it is being written to.
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

// revive gives a sink that has gone another writer, which gets the input from its first
// byte on. It can't if that isn't all here any more. missed is called, on a goroutine of its own, if that becomes
// so before the sink is settled.
func (f *feeder) replace(i int, next sink, missed func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sinks[i]
	next.incarnation, next.lost = s.incarnation+1, missed
	*s = next
	if !f.keeps() {
		f.drop(i)
		return false
	}
	go f.drain(i, s.incarnation)
	return true
}

// settle says that a replacement has come to where the others are.
func (f *feeder) caughtUp(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sinks[i].lost = nil
}

// taken is how much of the input a sink's process has read, which must not read meanwhile.
func (f *feeder) taken(i int) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sinks[i]
	if s.otherEnd == nil {
		return 0
	}
	s.asked = true
	for s.writing {
		s.w.SetWriteDeadline(time.Unix(0, 1)) // so that it is known how much a full pipe has taken
		f.changed.Wait()
	}
	s.asked = false
	f.changed.Broadcast()
	return s.at - int64(unread(s.otherEnd))
}

// drain writes to one sink, as long as it has its writer.
func (f *feeder) drain(i, incarnation int) {
	chunk := make([]byte, 32<<10)
	s := &f.sinks[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	for s.incarnation == incarnation {
		for (s.at == f.end() && !f.eof || s.asked) && !s.gone && s.incarnation == incarnation {
			f.changed.Wait()
		}
		n := 0
		if s.incarnation == incarnation && !s.gone { // else base may be beyond at
			n = copy(chunk, f.buf[s.at-f.base:])
		}
		if n == 0 {
			break
		}
		w := s.w
		s.writing = true
		f.mu.Unlock()
		n, err := w.Write(chunk[:n])
		f.mu.Lock()
		if s.incarnation != incarnation {
			return
		}
		s.writing = false
		s.at += int64(n)
		f.trim()
		f.changed.Broadcast()
		if os.IsTimeout(err) {
			w.SetWriteDeadline(time.Time{})
		} else if err != nil {
			break
		}
	}
	if s.incarnation == incarnation {
		f.drop(i)
	}
}

// any says whether a sink is left. The lock is held.
func (f *feeder) any() bool {
	for i := range f.sinks {
		if !f.sinks[i].gone {
			return true
		}
	}
	return false
}

// trim drops what nobody needs any more. The lock is held.
func (f *feeder) trim() {
	if f.keeps() {
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
		return // not for each chunk, what is kept may be much
	}
	f.buf = append(f.buf[:0], f.buf[n:]...)
	f.base = least
}
