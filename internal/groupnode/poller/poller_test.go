package poller

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// recorder is a Handler that notes what it is told.
type recorder struct {
	mu     sync.Mutex
	got    bytes.Buffer
	refuse bool
	rooms  chan struct{}
	ended  chan error
}

func newRecorder() *recorder {
	return &recorder{rooms: make(chan struct{}, 16), ended: make(chan error, 2)}
}

var errRefused = errors.New("refused")

func (r *recorder) Bytes(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got.Write(b)
	if r.refuse {
		return errRefused
	}
	return nil
}
func (r *recorder) Room()         { r.rooms <- struct{}{} }
func (r *recorder) End(err error) { r.ended <- err }

func (r *recorder) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.Len()
}

func (r *recorder) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("no end")
		return nil
	}
}

// start makes a Poller that is waited for until the test's end.
func start(t *testing.T) *Poller {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	done := make(chan error, 1)
	go func() {
		for !over.Load() {
			if err := p.Wait(time.Time{}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	t.Cleanup(func() {
		over.Store(true)
		p.Wake()
		p.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p
}

// pair is a connection: one end of the Poller's, and the other one.
func pair(t *testing.T, p *Poller, h Handler) (*Socket, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Add(near.(*net.TCPConn), h)
	if err != nil {
		t.Fatal(err)
	}
	return s, far.(*net.TCPConn)
}

// What comes is handed over in order, also what came before Add and just before the end.
func TestBytes(t *testing.T) {
	p := start(t)
	want := make([]byte, 100_000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	var all []*recorder
	for range 20 {
		r := newRecorder()
		all = append(all, r)
		_, far := pair(t, p, r)
		go func() { far.Write(want); far.Close() }()
	}
	for _, r := range all {
		if err := r.end(t); err != io.EOF || !bytes.Equal(r.got.Bytes(), want) {
			t.Errorf("%d of %d bytes, then %v", r.got.Len(), len(want), err)
		}
	}
}

// A Handler's error ends its connection, and is the end that it is told of.
func TestRefused(t *testing.T) {
	r := newRecorder()
	r.refuse = true
	_, far := pair(t, start(t), r)
	far.Write([]byte("x"))
	if err := r.end(t); err != errRefused {
		t.Error(err)
	}
	far.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, &net.OpError{}) {
		t.Error("the connection goes on")
	}
}

// A reset isn't an end in order.
func TestReset(t *testing.T) {
	r := newRecorder()
	_, far := pair(t, start(t), r)
	far.SetLinger(0)
	far.Close()
	if err := r.end(t); err == nil || err == io.EOF {
		t.Errorf("%v", err)
	}
}

// writer is a Handler that writes what it has whenever there is room.
type writer struct {
	*recorder
	socket *Socket
	rest   []byte
	done   chan struct{}
}

func (w *writer) Room() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rest = w.rest[w.socket.Write(w.rest):]; len(w.rest) > 0 {
		w.socket.AwaitRoom()
		return
	}
	close(w.done)
}

// More than the kernel takes at once leaves as the other side reads it.
func TestRoom(t *testing.T) {
	w := &writer{recorder: newRecorder(), rest: make([]byte, 20<<20), done: make(chan struct{})}
	size := len(w.rest)
	w.mu.Lock()
	s, far := pair(t, start(t), w)
	w.socket = s
	w.mu.Unlock()
	s.AwaitRoom()
	if n, err := io.CopyN(io.Discard, far, int64(size)); err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	<-w.done
}

// After Close nothing is taken over, and no Handler is told of an end that this side made.
func TestClose(t *testing.T) {
	p := start(t)
	r := newRecorder()
	s, far := pair(t, p, r)
	s.Close()
	s.Close()
	if n := s.Write([]byte("x")); n != 0 {
		t.Errorf("%d bytes are written to a closed socket", n)
	}
	s.Control(func(uintptr) { t.Error("a closed socket has a descriptor") })
	far.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	other := newRecorder()
	_, far = pair(t, p, other)
	p.Close()
	far.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	if _, err := p.Add(far, other); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if len(r.ended)+len(other.ended) > 0 {
		t.Error("told of an end")
	}
}

// Sockets come and go while others are used: no event reaches the wrong one.
func TestReused(t *testing.T) {
	p := start(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 30 {
				r := newRecorder()
				s, far := pair(t, p, r)
				text := []byte{byte(i), 2, 3}
				far.Write(text)
				for end := time.Now().Add(10 * time.Second); r.size() < len(text) && time.Now().Before(end); {
					time.Sleep(100 * time.Microsecond)
				}
				if r.mu.Lock(); !bytes.Equal(r.got.Bytes(), text) {
					t.Errorf("%v in place of %v", r.got.Bytes(), text)
				}
				r.mu.Unlock()
				if i%2 == 0 {
					s.Close()
				}
				far.Close()
			}
		})
	}
	all.Wait()
}

// Wait returns at its deadline, and for each Wake, whenever that comes.
func TestWait(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		began := time.Now()
		if err := p.Wait(began.Add(5 * time.Millisecond)); err != nil || time.Since(began) < 5*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	}
	p.Wake() // before it
	p.Wait(time.Now().Add(time.Hour))
	for range 1000 { // while it begins
		go p.Wake()
		p.Wait(time.Now().Add(time.Hour))
	}
	time.AfterFunc(5*time.Millisecond, p.Wake)
	p.Wait(time.Time{})
	if err := p.Wait(time.Unix(1, 0)); err != nil {
		t.Error(err)
	}
	time.AfterFunc(5*time.Millisecond, p.Close)
	if err := p.Wait(time.Time{}); err != nil {
		t.Error(err)
	}
}

// What has come before the deadline is handed over, even if nobody waited until long after it.
func TestLate(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := newRecorder()
	_, far := pair(t, p, r)
	p.Wait(time.Now().Add(time.Millisecond))
	far.Write([]byte("in time"))
	time.Sleep(20 * time.Millisecond) // the bytes are here, and the deadline has passed
	p.Wait(time.Now().Add(-10 * time.Millisecond))
	if r.size() == 0 {
		t.Error("nothing is handed over")
	}
}
