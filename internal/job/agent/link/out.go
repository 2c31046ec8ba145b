package link

import (
	"fmt"
	"io"
	"sync"
	"time"

	"banyan/internal/job/agent/wire"
)

// Out is the sending half of a stream. Write may be called from several goroutines.
type Out struct {
	l       *Link
	id      wire.Stream
	bounded bool
	changed sync.Cond
	buf     []byte // what wasn't passed on yet, from base on
	base    uint64
	sent    uint64 // what comes next; the end of the stream counts as a byte
	ended   bool
	closed  bool  // the other side wants no more
	held    bool  // nothing is sent for the moment
	gone    error // another party has taken the other side's place: this stream is over
	ready   bool
	waiters []waiter
}

// Out makes the sending half of a stream. Write to an unbounded one never waits.
func (l *Link) Out(id wire.Stream, bounded bool) *Out {
	o := &Out{l: l, id: id, bounded: bounded}
	o.changed.L = &l.mu
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outs[id] = o
	return o
}

// OutFrom makes the sending half of a stream of which the bytes before from were passed on long
// ago.
func (l *Link) OutFrom(id wire.Stream, from uint64, bounded bool) *Out {
	o := l.Out(id, bounded)
	l.mu.Lock()
	defer l.mu.Unlock()
	o.base, o.sent = from, from
	return o
}

// Write implements io.Writer. It fails once the other side has closed its half, or the Link has
// ended.
func (o *Out) Write(b []byte) (n int, err error) {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	for {
		switch {
		case o.l.err != nil:
			return n, o.l.err
		case o.gone != nil:
			return n, o.gone
		case o.closed, o.ended:
			return n, io.ErrClosedPipe
		}
		k := len(b)
		if o.bounded {
			k = min(k, Window-len(o.buf))
		}
		o.buf = append(o.buf, b[:k]...)
		n, b = n+k, b[k:]
		if k > 0 {
			o.l.readied(o)
		}
		if len(b) == 0 {
			return n, nil
		}
		o.changed.Wait()
	}
}

// Close ends the stream behind what was written.
func (o *Out) Close() error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	if !o.ended {
		o.ended = true
		o.l.readied(o)
		o.changed.Broadcast()
	}
	return nil
}

// Written is how many bytes were written so far.
func (o *Out) Written() uint64 {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	return o.end()
}

// AwaitPassed waits until the other side has passed on all that was written, or wants no more. It
// returns false if limit is over first, or the Link has ended.
func (o *Out) AwaitPassed(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	o.l.mu.Lock()
	passed := waitFor(&o.waiters, o.end(), o.base, o.closed)
	o.l.mu.Unlock()
	select {
	case <-passed:
		return true
	case <-o.l.done:
	case <-timer.C:
	}
	return false
}

// end is the offset behind all bytes. The lock is held, as in all that follows.
func (o *Out) end() uint64 { return o.base + uint64(len(o.buf)) }

// last is the highest offset that the other side can have come to.
func (o *Out) last() uint64 {
	if o.ended {
		return o.end() + 1
	}
	return o.end()
}

func (o *Out) mark() *bool { return &o.ready }

// isBulk says whether what the stream carries can wait for what the others do.
func (o *Out) isBulk() bool { return o.id.Channel >= wire.Stdin }

func (o *Out) next(f *wire.Frame) bool {
	if o.closed || o.held || o.gone != nil || o.sent >= o.last() {
		return false
	}
	n := min(o.end(), o.base+Window, o.sent+wire.MaxData) - o.sent
	at := o.sent - o.base
	*f = wire.Frame{Kind: wire.Data, Stream: o.id, Offset: o.sent}
	if n > 0 {
		f.Data = o.buf[at : at+n]
	}
	o.sent += n
	if f.End = o.ended && o.sent == o.end(); f.End {
		o.sent++
	}
	return n > 0 || f.End
}

// passed takes an acknowledgement.
func (o *Out) passed(e wire.Entry) error {
	if e.Passed > o.sent {
		return fmt.Errorf("%w: %d bytes of %v passed on, of %d", wire.ErrCorrupt, e.Passed, o.id, o.sent)
	}
	if n := min(e.Passed, o.end()); n > o.base {
		o.buf = o.buf[n-o.base:]
		o.base = n
		o.l.readied(o)
	}
	if e.Closed && !o.closed {
		o.closed = true
		o.base, o.buf = o.end(), nil
	}
	if o.closed || o.ended && e.Passed > o.end() {
		delete(o.l.outs, o.id) // the other side needs nothing more
	}
	wake(&o.waiters, o.base, o.closed)
	o.changed.Broadcast()
	return nil
}

// rewind prepares to go on from where the other side has come to.
func (o *Out) rewind(e wire.Entry) error {
	if e.Come > o.last() {
		return fmt.Errorf("%w: %d bytes of %v have come, of %d", wire.ErrCorrupt, e.Come, o.id, o.end())
	}
	o.sent = max(e.Come, o.base)
	return o.passed(e)
}

// waiter waits until an offset was passed on.
type waiter struct {
	offset uint64
	passed chan struct{}
}

// waitFor returns a channel that is closed when offset was passed on, or nothing more is wanted.
func waitFor(list *[]waiter, offset, base uint64, closed bool) <-chan struct{} {
	w := waiter{offset, make(chan struct{})}
	*list = append(*list, w)
	wake(list, base, closed)
	return w.passed
}

// wake wakes those whose offset was passed on.
func wake(list *[]waiter, base uint64, closed bool) {
	left := (*list)[:0]
	for _, w := range *list {
		if closed || base >= w.offset {
			close(w.passed)
		} else {
			left = append(left, w)
		}
	}
	*list = left
}
