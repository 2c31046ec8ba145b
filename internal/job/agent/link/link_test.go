package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

const patience = 20 * time.Second

// cable carries what one side writes to the other side, in pieces, and breaks after some bytes.
// Then what it holds is lost.
func cable(from, to net.Conn, rng *rand.Rand, bytes int) {
	defer from.Close()
	defer to.Close()
	piece := make([]byte, 1+rng.IntN(100<<10))
	for {
		n, err := from.Read(piece)
		if err != nil {
			return
		}
		if bytes -= n; bytes < 0 {
			to.Write(piece[:rng.IntN(n)])
			return
		}
		if _, err := to.Write(piece[:n]); err != nil {
			return
		}
	}
}

// connect connects two Links again and again, until one has ended. lasting is how many bytes a
// connection carries at most in each direction.
func connect(a, b *Link, rng *rand.Rand, lasting int) (stop func() (connections int)) {
	var all sync.WaitGroup
	n, ended := 0, make(chan struct{})
	all.Go(func() {
		for ; ; n++ {
			select {
			case <-ended:
				return
			default:
			}
			a1, a2 := net.Pipe()
			b1, b2 := net.Pipe()
			var two sync.WaitGroup
			forth, back := rand.New(rand.NewPCG(rng.Uint64(), 1)), rand.New(rand.NewPCG(rng.Uint64(), 2))
			two.Go(func() { cable(a2, b2, forth, forth.IntN(lasting)) })
			two.Go(func() { cable(b2, a2, back, back.IntN(lasting)) })
			two.Go(func() { a.Carry(a1, wire.NewReader(a1)) })
			two.Go(func() { b.Carry(b1, wire.NewReader(b1)) })
			two.Wait()
		}
	})
	return func() int {
		close(ended)
		a.End(net.ErrClosed)
		b.End(net.ErrClosed)
		all.Wait()
		return n
	}
}

func newPair() (a, b *Link) { return New(patience, nil), New(patience, nil) }

// text is what a stream carries: any error in it is seen.
func text(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func id(n int, c wire.Channel) wire.Stream {
	return wire.Stream{Proc: proto.Proc(n), Incarnation: 3, Channel: c}
}

// Streams in both directions come through connections that break at random places.
func TestStreams(t *testing.T) {
	seeds := uint64(12)
	if explore.Long() {
		seeds = 3000
	}
	cuts := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 7))
		a, b := newPair()
		var all sync.WaitGroup
		failed := make(chan error, 100)
		for n := range 1 + rng.IntN(6) {
			from, to := a, b
			if n%2 == 1 {
				from, to = b, a
			}
			s := id(n, wire.Channel(n%6))
			out, in := from.Out(s, rng.IntN(2) == 0), to.In(s)
			want := text(rng, rng.IntN(1<<20))
			pieces, reads := rand.New(rand.NewPCG(seed, uint64(n))), 1+rng.IntN(100<<10)
			all.Go(func() {
				for rest := want; len(rest) > 0; {
					k := min(len(rest), 1+pieces.IntN(60<<10))
					if _, err := out.Write(rest[:k]); err != nil {
						failed <- err
						return
					}
					rest = rest[k:]
				}
				out.Close()
				if !out.AwaitPassed(patience) {
					failed <- errors.New("not passed on")
				}
			})
			all.Go(func() {
				var got bytes.Buffer
				if _, err := io.CopyBuffer(&got, struct{ io.Reader }{in}, make([]byte, reads)); err != nil || !bytes.Equal(got.Bytes(), want) {
					failed <- fmt.Errorf("%v: %d bytes, not %d: %v", s, got.Len(), len(want), err)
				}
			})
		}
		stop := connect(a, b, rng, 1+rng.IntN(2<<20))
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(2 * patience):
			t.Fatalf("seed %d hangs", seed)
		}
		cuts += stop()
		close(failed)
		for err := range failed {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if cuts < 5*int(seeds) {
		t.Errorf("only %d connections", cuts)
	}
}

// quiet connects two Links for good.
func quiet(t *testing.T) (a, b *Link) {
	a, b = newPair()
	stop := connect(a, b, rand.New(rand.NewPCG(1, 1)), 1<<62)
	t.Cleanup(func() { stop() })
	return a, b
}

// A writer waits when the other side doesn't read, and neither side holds more than a window.
func TestBackPressure(t *testing.T) {
	a, b := quiet(t)
	out, in := a.Out(id(1, wire.Stdout), true), b.In(id(1, wire.Stdout))
	wrote := make(chan int, 1)
	go func() {
		n, _ := out.Write(make([]byte, 4*Window))
		wrote <- n
	}()
	for in.held() < Window {
		time.Sleep(time.Millisecond)
	}
	select {
	case n := <-wrote:
		t.Fatalf("wrote %d bytes", n)
	case <-time.After(20 * time.Millisecond):
	}
	if h := in.held(); h != Window {
		t.Errorf("the receiver holds %d bytes", h)
	}
	if n, err := io.ReadFull(in, make([]byte, 4*Window)); err != nil || <-wrote != 4*Window {
		t.Errorf("read %d, %v", n, err)
	}
}

func (i *In) held() int {
	i.l.mu.Lock()
	defer i.l.mu.Unlock()
	return len(i.buf)
}

// A writer learns that the other side wants no more, also without a connection at that time.
func TestReceiverCloses(t *testing.T) {
	a, b := newPair()
	out, in := a.Out(id(1, wire.Stdin), true), b.In(id(1, wire.Stdin))
	in.Close()
	stop := connect(a, b, rand.New(rand.NewPCG(1, 1)), 1<<62)
	defer stop()
	failed := make(chan error)
	go func() {
		for {
			if _, err := out.Write(make([]byte, 1000)); err != nil {
				failed <- err
				return
			}
		}
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the writer hangs")
	}
}

// What was read counts as passed on at the next Read.
func TestAwaitPassed(t *testing.T) {
	a, b := quiet(t)
	out, in := a.Out(id(1, wire.Stdout), true), b.In(id(1, wire.Stdout))
	out.Write(make([]byte, 10))
	in.Read(make([]byte, 100))
	stop := make(chan struct{})
	close(stop)
	if in.AwaitPassed(10, stop) || out.AwaitPassed(10*time.Millisecond) {
		t.Error("passed on before the next Read")
	}
	go in.Read(make([]byte, 100))
	if !in.AwaitPassed(10, nil) || !out.AwaitPassed(patience) {
		t.Error("not passed on")
	}
	b.End(net.ErrClosed)
	if in.AwaitPassed(11, stop) {
		t.Error("passed on before a Read has seen the end")
	}
	go in.Read(make([]byte, 100))
	in.AwaitPassed(11, nil)
}

// The end of a Link wakes all that wait, and lets what has come be read.
func TestEnd(t *testing.T) {
	a, b := quiet(t)
	out, in := a.Out(id(1, wire.Stdout), true), b.In(id(1, wire.Stdout))
	out.Write([]byte("some"))
	for in.held() < 4 {
		time.Sleep(time.Millisecond)
	}
	written := make(chan error, 1)
	go func() { _, err := out.Write(make([]byte, 4*Window)); written <- err }()
	lost := errors.New("lost")
	a.End(lost)
	b.End(lost)
	if err := <-written; err != lost {
		t.Error(err)
	}
	for in.held() > 4 {
		in.Read(make([]byte, 1000))
	}
	p, err := io.ReadAll(in)
	if err != lost {
		t.Errorf("%q, %v", p, err)
	}
	if a.Err() != lost || a.Carry(unusedConn(), nil) != lost {
		t.Error("an ended Link carries")
	}
	<-a.Done()
}

func unusedConn() net.Conn { c, _ := net.Pipe(); return c }

// A connection that another one replaces ends, and the streams go on over the new one.
func TestReplaced(t *testing.T) {
	a, b := newPair()
	defer a.End(net.ErrClosed)
	defer b.End(net.ErrClosed)
	out, in := a.Out(id(1, wire.Control), false), b.In(id(1, wire.Control))
	a1, b1 := net.Pipe()
	first := make(chan error, 2)
	go func() { first <- a.Carry(a1, wire.NewReader(a1)) }()
	go func() { first <- b.Carry(b1, wire.NewReader(b1)) }()
	out.Write([]byte("x"))
	io.ReadFull(in, make([]byte, 1))
	a2, b2 := net.Pipe()
	go a.Carry(a2, wire.NewReader(a2))
	go b.Carry(b2, wire.NewReader(b2))
	for range 2 {
		select {
		case err := <-first:
			if err == nil {
				t.Error("no error")
			}
		case <-time.After(patience):
			t.Fatal("the first connection stays")
		}
	}
	out.Write([]byte("y"))
	if b := make([]byte, 1); true {
		if _, err := io.ReadFull(in, b); err != nil || b[0] != 'y' {
			t.Error(b, err)
		}
	}
}

// What makes no sense ends the connection, not the program.
func TestForged(t *testing.T) {
	s := id(1, wire.Stdout)
	resume := &wire.Frame{Kind: wire.Resume}
	for name, frames := range map[string][]*wire.Frame{
		"gap":              {resume, {Kind: wire.Data, Stream: s, Offset: 5, Data: []byte("x")}},
		"too much passed":  {resume, {Kind: wire.Ack, Entry: wire.Entry{Stream: s, Come: 9, Passed: 9}}},
		"too much resumed": {{Kind: wire.Resume, Entries: []wire.Entry{{Stream: s, Come: 9}}}},
		"two resumes":      {resume, resume},
		"after the end":    {resume, {Kind: wire.Data, Stream: s, Data: []byte("x"), End: true}, {Kind: wire.Data, Stream: s, Offset: 1, Data: []byte("yy")}},
		"another end":      {resume, {Kind: wire.Data, Stream: s, Data: []byte("xx")}, {Kind: wire.Data, Stream: s, Data: []byte("x"), End: true}},
		"hello":            {{Kind: wire.Hello}},
		"ahead": append([]*wire.Frame{resume}, func() (f []*wire.Frame) {
			for n := range Window/wire.MaxData + 1 {
				f = append(f, &wire.Frame{Kind: wire.Data, Stream: s, Offset: uint64(n * wire.MaxData), Data: make([]byte, wire.MaxData)})
			}
			return f
		}()...),
	} {
		l := New(patience, nil)
		l.In(s)
		l.Out(s, true)
		ours, theirs := net.Pipe()
		go io.Copy(io.Discard, theirs)
		go func() {
			for _, f := range frames {
				theirs.Write(wire.Append(nil, f))
			}
		}()
		if err := l.Carry(ours, wire.NewReader(ours)); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		theirs.Close()
	}
}

// A connection that says nothing is given up.
func TestSilence(t *testing.T) {
	l := New(10*time.Millisecond, nil)
	ours, theirs := net.Pipe()
	defer theirs.Close()
	if err := l.Carry(ours, wire.NewReader(ours)); err == nil {
		t.Error("no error")
	}
}
