package link

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"banyan/internal/job/agent/wire"
)

const (
	// Window bounds the bytes of a stream that were sent and not passed on.
	Window = 256 << 10
	// batch is how many bytes are written at a time, about.
	batch = 64 << 10
)

// ErrReplaced is the error of a connection whose place another one has taken.
var ErrReplaced = errors.New("another connection has taken its place")

// Link is one side.
type Link struct {
	// silence ends a connection that says nothing, or takes nothing, for so long.
	silence time.Duration
	heard   func(*wire.Frame) // takes frames that belong to no stream

	mu      sync.Mutex
	work    sync.Cond // the writer waits for something to send
	outs    map[wire.Stream]*Out
	ins     map[wire.Stream]*In
	urgent  []wire.Frame // to be sent before all else; they are lost with the connection
	first   []sender     // have something to send
	bulk    []sender     // have something to send when first is empty
	conn    net.Conn     // the current one
	carried bool         // Carry runs
	broken  bool         // the connection that is carried has broken
	resumed bool         // the other side has told how far it has come
	err     error        // the Link has ended
	done    chan struct{}
}

// sender is an Out with data or an In with an acknowledgement.
type sender interface {
	// next is the next frame to send, false if there is none, or if the stream was with another
	// party than the one that is connected now (Restart). The lock is held.
	next(*wire.Frame) bool
	// mark says whether it is in one of the Link's lists.
	mark() *bool
	isBulk() bool
}

// New makes a Link. A connection that says nothing, or takes nothing, for silence is given up.
// heard takes the frames that belong to no stream; it must not wait for the Link.
func New(silence time.Duration, heard func(*wire.Frame)) *Link {
	l := &Link{silence: silence, heard: heard, outs: make(map[wire.Stream]*Out), ins: make(map[wire.Stream]*In), done: make(chan struct{})}
	l.work.L = &l.mu
	return l
}

// Done is closed when the Link has ended.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err is why the Link has ended, nil while it hasn't.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// End ends the Link: the current connection is closed, and all that wait get err.
func (l *Link) End(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	close(l.done)
	if l.conn != nil {
		l.conn.Close()
	}
	for _, o := range l.outs {
		o.changed.Broadcast()
	}
	for _, i := range l.ins {
		i.changed.Broadcast()
	}
	l.work.Broadcast()
}

// Holds says whether the other side may still need something of the streams that is says.
func (l *Link) Holds(is func(wire.Stream) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.outs {
		if is(id) {
			return true
		}
	}
	return false
}

// Forget forgets the streams of an id, of which nothing is expected any more.
func (l *Link) Forget(id wire.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.outs, id)
	delete(l.ins, id)
}

// Urge sends a frame that belongs to no stream before all else. It is lost if there is no
// connection, or if that breaks.
func (l *Link) Urge(f wire.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.carried && l.err == nil {
		l.urgent = append(l.urgent, f)
		l.work.Broadcast()
	}
}

// Cut closes the current connection, if there is one.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
}

// AwaitIdle waits until there is no connection: what came over the last one was taken. It doesn't
// wait for longer than limit.
func (l *Link) AwaitIdle(limit time.Duration) {
	late := false
	defer time.AfterFunc(limit, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.work.Broadcast()
	}).Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !late && l.err == nil && (l.conn != nil || l.carried) {
		l.work.Wait()
	}
}

// Carry carries the streams over a connection until that breaks, and closes it. It takes the place
// of an earlier connection. Frames are read by r, which may have read the beginning already.
func (l *Link) Carry(conn net.Conn, r *wire.Reader) error {
	defer conn.Close()
	if err := l.enter(conn); err != nil {
		return err
	}
	writer := make(chan error, 1)
	go func() { writer <- l.write(conn, l.resume()) }()
	readError := l.read(conn, r)
	l.leave(conn)
	writeError := <-writer
	l.mu.Lock()
	defer l.mu.Unlock()
	l.carried = false
	replaced := l.conn != conn
	if !replaced {
		l.conn = nil
	}
	l.work.Broadcast()
	switch {
	case l.err != nil:
		return l.err
	case replaced:
		return ErrReplaced
	case errors.Is(readError, net.ErrClosed):
		return writeError
	}
	return readError
}

// enter makes a connection the current one, when the one before has been left.
func (l *Link) enter(conn net.Conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
	l.conn = conn
	l.work.Broadcast()
	for l.carried && l.conn == conn && l.err == nil {
		l.work.Wait()
	}
	switch {
	case l.err != nil:
		return l.err
	case l.conn != conn:
		return ErrReplaced
	}
	l.carried, l.resumed, l.broken = true, false, false
	l.urgent = nil
	for _, s := range append(l.first, l.bulk...) {
		*s.mark() = false
	}
	l.first, l.bulk = nil, nil
	return nil
}

// leave wakes the writer of a connection that has broken.
func (l *Link) leave(conn net.Conn) {
	conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resumed, l.broken = false, true
	l.work.Broadcast()
}

// resume is how far this side has come.
func (l *Link) resume() (b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := wire.Frame{Kind: wire.Resume, More: true}
	for _, i := range l.ins {
		if f.Entries = append(f.Entries, i.entry()); len(f.Entries) == wire.MaxEntries {
			b = wire.Append(b, &f)
			f.Entries = f.Entries[:0]
		}
	}
	f.More = false
	return wire.Append(b, &f)
}

// read takes frames until an error.
func (l *Link) read(conn net.Conn, r *wire.Reader) error {
	come := make(map[wire.Stream]wire.Entry)
	for {
		conn.SetReadDeadline(time.Now().Add(l.silence))
		f, err := r.Read()
		if err != nil {
			return err
		}
		switch f.Kind {
		case wire.Data, wire.Ack:
			err = l.take(f)
		case wire.Resume:
			for _, e := range f.Entries {
				come[e.Stream] = e
			}
			if !f.More {
				err = l.goOn(come)
			}
		case wire.Ask, wire.Grant:
			l.heard(f)
		default:
			err = fmt.Errorf("%w: one of kind %d in the middle of a connection", wire.ErrCorrupt, f.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// goOn begins to send, from where the other side has come to.
func (l *Link) goOn(come map[wire.Stream]wire.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resumed {
		return fmt.Errorf("%w: a second resume", wire.ErrCorrupt)
	}
	for id, o := range l.outs {
		if err := o.rewind(come[id]); err != nil {
			return err
		}
	}
	l.resumed = true
	for _, o := range l.outs {
		l.readied(o)
	}
	for _, i := range l.ins { // some may have passed on more since resume
		l.readied(i)
	}
	return nil
}

// take takes a frame of a stream. What isn't known any more needs nothing.
func (l *Link) take(f *wire.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.Kind == wire.Data {
		if i := l.ins[f.Stream]; i != nil {
			return i.take(f)
		}
		return nil
	}
	if o := l.outs[f.Entry.Stream]; o != nil {
		return o.passed(f.Entry)
	}
	return nil
}

// readied notes that a sender may have something to send. The lock is held.
func (l *Link) readied(s sender) {
	mark := s.mark()
	if *mark || !l.resumed {
		return
	}
	*mark = true
	if s.isBulk() {
		l.bulk = append(l.bulk, s)
	} else {
		l.first = append(l.first, s)
	}
	l.work.Broadcast()
}

// write writes to a connection, first what this side resumes with, until an error.
func (l *Link) write(conn net.Conn, b []byte) error {
	for {
		conn.SetWriteDeadline(time.Now().Add(l.silence))
		if _, err := conn.Write(b); err != nil {
			conn.Close() // wakes the reader
			return err
		}
		if b = l.gather(conn, b[:0]); len(b) == 0 {
			return net.ErrClosed
		}
	}
}

// gather waits for something to send, and appends it to b. It appends nothing if the connection is
// over.
func (l *Link) gather(conn net.Conn, b []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for i := range l.urgent {
			b = wire.Append(b, &l.urgent[i])
		}
		l.urgent = l.urgent[:0]
		for len(b) < batch {
			from := &l.first
			if len(l.first) == 0 {
				from = &l.bulk
			}
			if len(*from) == 0 {
				break
			}
			b = l.serve(b, from)
		}
		if len(b) > 0 {
			return b
		}
		if l.broken || l.conn != conn || l.err != nil {
			return nil
		}
		l.work.Wait()
	}
}

// serve appends a frame of a list's first sender, and makes that the last. The lock is held.
func (l *Link) serve(b []byte, list *[]sender) []byte {
	s := (*list)[0]
	*list = (*list)[1:]
	var f wire.Frame
	if !s.next(&f) {
		*s.mark() = false
		return b
	}
	*list = append(*list, s)
	return wire.Append(b, &f)
}
