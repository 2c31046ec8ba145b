package link

import (
	"fmt"
	"io"
	"sync"

	"banyan/internal/job/agent/wire"
)

// In is the receiving half of a stream. Read may be called from one goroutine.
type In struct {
	l       *Link
	id      wire.Stream
	changed sync.Cond
	buf     []byte // what has come and no Read has taken
	come    uint64 // bytes that have come; the end of the stream counts as one
	passed  uint64
	taken   uint64 // by the last Read, and not passed on yet
	ended   bool   // the end has come
	cut     bool   // the Link has ended, and all that had come was read
	gone    error  // another party has taken the other side's place: nothing more comes
	// keep says that the other side keeps all that wasn't released, also what was passed on.
	keep     bool
	released uint64
	closed   bool
	ready    bool
	told     wire.Entry // what the other side was told last
	waiters  []waiter
}

// In makes the receiving half of a stream. The other side mustn't have sent anything yet.
func (l *Link) In(id wire.Stream) *In {
	i := &In{l: l, id: id}
	i.changed.L = &l.mu
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ins[id] = i
	return i
}

// InFrom makes the receiving half of a stream of which the bytes before from have come and were
// passed on long ago; ended says that its end has, too.
func (l *Link) InFrom(id wire.Stream, from uint64, ended bool) *In {
	i := l.In(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if i.ended = ended; ended {
		from++
	}
	i.come, i.passed, i.released = from, from, from
	return i
}

// Keep has the other side keep what it sends until that is released, though it may have been passed
// on. It keeps Window bytes at most: then its writer waits. Keep must be called before anything is
// read.
func (i *In) Keep() {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	i.keep = true
}

// Release says that the bytes before offset needn't be kept any more.
func (i *In) Release(offset uint64) {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	if offset > i.released {
		i.released = offset
		i.l.readied(i)
	}
}

// acknowledged is what the other side needn't keep.
func (i *In) acknowledged() uint64 {
	data := i.come
	if i.ended {
		data--
	}
	if !i.keep || i.closed || i.released >= data {
		return i.passed
	}
	return min(i.passed, i.released)
}

// Read implements io.Reader. What the Read before has given counts as passed on now. When the Link
// has ended, what has come can still be read; then comes the Link's error.
func (i *In) Read(b []byte) (int, error) {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	i.pass()
	for {
		switch {
		case i.closed:
			return 0, io.ErrClosedPipe
		case len(i.buf) > 0:
			n := copy(b, i.buf)
			i.buf = i.buf[n:]
			i.taken = uint64(n)
			return n, nil
		case i.gone != nil:
			return 0, i.gone
		case i.ended:
			i.taken = i.come - i.passed
			i.pass()
			return 0, io.EOF
		case i.l.err != nil:
			i.cut = true
			wake(&i.waiters, i.passed, true)
			return 0, i.l.err
		}
		i.changed.Wait()
	}
}

// Close says that no more is wanted.
func (i *In) Close() error {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	if !i.closed {
		i.closed, i.buf = true, nil
		i.taken = i.come - i.passed
		i.pass()
		i.l.readied(i)
		i.changed.Broadcast()
	}
	return nil
}

// AwaitPassed waits until the bytes before offset were passed on, or a Read has come to the end of
// the stream or of the Link. It returns false if stop is closed first.
func (i *In) AwaitPassed(offset uint64, stop <-chan struct{}) bool {
	i.l.mu.Lock()
	passed := waitFor(&i.waiters, offset, i.passed, i.finished())
	i.l.mu.Unlock()
	select {
	case <-passed:
		return true
	case <-stop:
		return false
	}
}

// finished says whether all was passed on, no more can come, or no more is wanted. The lock is
// held, as in all that follows.
func (i *In) finished() bool {
	return i.closed || i.cut || i.gone != nil || i.ended && i.passed == i.come
}

// pass passes on what the last Read took.
func (i *In) pass() {
	if i.taken == 0 {
		return
	}
	i.passed += i.taken
	i.taken = 0
	i.l.readied(i)
	wake(&i.waiters, i.passed, i.finished())
}

func (i *In) entry() wire.Entry {
	i.told = wire.Entry{Stream: i.id, Come: i.come, Passed: i.acknowledged(), Closed: i.closed}
	return i.told
}

func (i *In) mark() *bool { return &i.ready }

func (i *In) isBulk() bool { return false }

func (i *In) next(f *wire.Frame) bool {
	if told := i.told; i.gone != nil || told.Passed == i.acknowledged() && told.Closed == i.closed {
		return false
	}
	*f = wire.Frame{Kind: wire.Ack, Entry: i.entry()}
	return true
}

// take takes data. Of what has come before, nothing counts again.
func (i *In) take(f *wire.Frame) error {
	if f.Offset > i.come {
		return fmt.Errorf("%w: %v goes on at %d, not at %d", wire.ErrCorrupt, i.id, f.Offset, i.come)
	}
	end := f.Offset + uint64(len(f.Data))
	if i.ended && end >= i.come || f.End && end < i.come && !i.ended {
		return fmt.Errorf("%w: %v has another end than before", wire.ErrCorrupt, i.id)
	}
	if end > i.come {
		if !i.closed {
			i.buf = append(i.buf, f.Data[i.come-f.Offset:]...)
		}
		i.come = end
	}
	if f.End && !i.ended {
		i.ended = true
		i.come++
	}
	switch {
	case i.closed:
		i.passed = i.come
		i.l.readied(i)
	case i.come-i.passed > Window+1: // also if all is kept: then the other side keeps no more
		return fmt.Errorf("%w: %v runs ahead", wire.ErrCorrupt, i.id)
	}
	i.changed.Broadcast()
	return nil
}

// Finished returns a channel that is closed when a Read has come to the end of the stream or the
// Link, or the stream was closed.
func (i *In) Finished() <-chan struct{} {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	return waitFor(&i.waiters, 1<<63, i.passed, i.finished())
}
