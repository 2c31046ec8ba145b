package launch

import (
	"io"
	"sync"
)

// feeder copies one input to several sinks. Each goes at its own pace, until
// the slowest of those still there is limit bytes behind the fastest; then
// the input waits. A sink whose Write fails has gone.
type feeder struct {
	limit int

	mu      sync.Mutex
	changed sync.Cond
	buf     []byte // of the input, from byte base on
	base    int64
	eof     bool
	sinks   []sink
}

type sink struct {
	w    io.WriteCloser
	at   int64 // next byte of the input
	gone bool
}

// newFeeder makes a feeder. Each sink is closed when it has got all.
func newFeeder(limit int, writers []io.WriteCloser) *feeder {
	f := &feeder{limit: limit}
	f.changed.L = &f.mu
	for _, w := range writers {
		f.sinks = append(f.sinks, sink{w: w})
	}
	return f
}

// run feeds the sinks until the input ends or all sinks have gone.
func (f *feeder) run(input io.Reader) {
	for i := range f.sinks {
		go f.drain(i)
	}
	chunk := make([]byte, 32<<10)
	for {
		n, err := input.Read(chunk)
		f.mu.Lock()
		f.buf = append(f.buf, chunk[:n]...)
		f.eof = err != nil
		f.changed.Broadcast()
		for len(f.buf) >= f.limit && f.any() {
			f.changed.Wait()
		}
		stop := f.eof || !f.any()
		f.mu.Unlock()
		if stop {
			return
		}
	}
}

// remove closes a sink and forgets it, also while it is being written to.
func (f *feeder) remove(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := &f.sinks[i]; !s.gone {
		s.gone = true
		s.w.Close()
		f.trim()
		f.changed.Broadcast()
	}
}

// drain writes to one sink.
func (f *feeder) drain(i int) {
	defer f.remove(i)
	chunk := make([]byte, 32<<10)
	s := &f.sinks[i]
	for {
		f.mu.Lock()
		for s.at == f.base+int64(len(f.buf)) && !f.eof && !s.gone {
			f.changed.Wait()
		}
		n := 0
		if !s.gone { // else base may be beyond at
			n = copy(chunk, f.buf[s.at-f.base:])
		}
		f.mu.Unlock()
		if n == 0 {
			return
		}
		if _, err := s.w.Write(chunk[:n]); err != nil {
			return
		}
		f.mu.Lock()
		s.at += int64(n)
		f.trim()
		f.changed.Broadcast()
		f.mu.Unlock()
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

// trim drops what every sink has got. The lock is held.
func (f *feeder) trim() {
	least := f.base + int64(len(f.buf))
	for i := range f.sinks {
		if !f.sinks[i].gone {
			least = min(least, f.sinks[i].at)
		}
	}
	n := int(least - f.base)
	f.buf = append(f.buf[:0], f.buf[n:]...)
	f.base = least
}
