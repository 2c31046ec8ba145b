package launch

import (
	"io"
	"sync"
	"syscall"
)

// feeder copies one input to several sinks. Each goes at its own pace, until
// the slowest of those still there is limit bytes behind the fastest; then
// the input waits. A sink whose Write fails has gone.
type feeder struct {
	limit int
	keep  bool // all of the input, for newcomers, as long as it is below the limit

	mu      sync.Mutex
	changed sync.Cond
	buf     []byte // of the input, from byte base on
	base    int64
	eof     bool
	sinks   []sink
}

type sink struct {
	w       io.WriteCloser
	far     syscall.RawConn // the other end of w, a pipe, if the sink may be asked what is taken; or nil
	at      int64           // next byte of the input
	gone    bool
	writing bool
	life    int // how many writers there were before
}

// newFeeder makes a feeder. Each sink is closed when it has got all.
func newFeeder(limit int, keep bool, sinks []sink) *feeder {
	f := &feeder{limit: limit, keep: keep, sinks: sinks}
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
		f.changed.Broadcast()
		if len(f.buf) >= f.limit {
			f.keep = false
			f.trim()
		}
		for len(f.buf) >= f.limit && f.any() {
			f.changed.Wait()
		}
		stop := f.eof || !f.any() && !f.keep
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
// byte on. It can't if that isn't all here any more.
func (f *feeder) revive(i int, next sink) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sinks[i]
	next.life = s.life + 1
	*s = next
	if !f.keep {
		f.drop(i)
		return false
	}
	go f.drain(i, s.life)
	return true
}

// taken is how much of the input a sink's process has read, if that is certain.
func (f *feeder) taken(i int) (n int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sinks[i]
	if s.writing || s.far == nil {
		return 0, false
	}
	return s.at - int64(unread(s.far)), true
}

// drain writes to one sink, as long as it has its writer.
func (f *feeder) drain(i, life int) {
	chunk := make([]byte, 32<<10)
	s := &f.sinks[i]
	f.mu.Lock()
	defer f.mu.Unlock()
	for s.life == life {
		for s.at == f.base+int64(len(f.buf)) && !f.eof && !s.gone && s.life == life {
			f.changed.Wait()
		}
		n := 0
		if s.life == life && !s.gone { // else base may be beyond at
			n = copy(chunk, f.buf[s.at-f.base:])
		}
		if n == 0 {
			break
		}
		w := s.w
		s.writing = true
		f.mu.Unlock()
		_, err := w.Write(chunk[:n])
		f.mu.Lock()
		if s.life != life {
			return
		}
		s.writing = false
		if err != nil {
			break
		}
		s.at += int64(n)
		f.trim()
		f.changed.Broadcast()
	}
	if s.life == life {
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

// trim drops what every sink has got. The lock is held.
func (f *feeder) trim() {
	if f.keep {
		return
	}
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
