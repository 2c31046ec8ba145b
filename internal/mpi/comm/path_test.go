package comm_test

import (
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// wires is a network that costs almost nothing: a frame waits in the ring of its pair until the
// receiver polls.
type wires struct{ ends []*wireEnd }

type wireEnd struct {
	net   *wires
	self  proto.Proc
	in    []*wireRing // by sender
	loans []wireLoan
}

// wireRing has one writer and one reader, each perhaps the progress thread of its engine.
type wireRing struct {
	tail, head atomic.Uint32
	frames     [64]wireFrame
}

type wireFrame struct {
	header  wire.Header
	payload []byte
	small   [64]byte
}

type wireLoan struct {
	to    proto.Proc
	token uint64
}

func newWires(n int) *wires {
	w := &wires{}
	for q := range n {
		e := &wireEnd{net: w, self: proto.Proc(q)}
		for range n {
			e.in = append(e.in, &wireRing{})
		}
		w.ends = append(w.ends, e)
	}
	return w
}

func (e *wireEnd) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	h.Length = uint32(len(payload))
	r := e.net.ends[to].in[e.self]
	tail := r.tail.Load()
	if tail-r.head.Load() == uint32(len(r.frames)) {
		panic("the ring is full")
	}
	f := &r.frames[tail%uint32(len(r.frames))]
	f.header = *h
	if len(payload) <= len(f.small) {
		f.payload = f.small[:copy(f.small[:], payload)]
	} else {
		f.payload = append([]byte(nil), payload...)
	}
	r.tail.Store(tail + 1)
	if token != 0 {
		e.loans = append(e.loans, wireLoan{to, token})
	}
}

func (e *wireEnd) Queued(proto.Proc) int { return 0 }

func (e *wireEnd) Poll(sink transport.Sink) int {
	n := len(e.loans)
	for i := range n {
		sink.Sent(e.loans[i].to, e.loans[i].token)
	}
	e.loans = append(e.loans[:0], e.loans[n:]...)
	for from, r := range e.in {
		for head := r.head.Load(); head != r.tail.Load(); head++ {
			f := &r.frames[head%uint32(len(r.frames))]
			n++
			if len(f.payload) <= transport.DirectSize {
				sink.Frame(proto.Proc(from), &f.header, f.payload)
			} else {
				if place := sink.Dest(proto.Proc(from), &f.header); place != nil {
					copy(place, f.payload)
				}
				sink.Arrived(proto.Proc(from), &f.header)
			}
			r.head.Store(head + 1)
		}
	}
	return n
}

func (e *wireEnd) Wait(limit time.Duration) { time.Sleep(min(limit, time.Millisecond)) }
func (e *wireEnd) Wake()                    {}
func (e *wireEnd) Fence(proto.Proc)         {}
func (e *wireEnd) Drain(time.Duration)      {}
func (e *wireEnd) Close() error             { return nil }

// wired gives the worlds of a job over wires.
func wired(tb testing.TB, layout layout.Layout) []*comm.Comm {
	net := newWires(layout.Procs())
	var worlds []*comm.Comm
	for q := range proto.Proc(layout.Procs()) {
		// The heartbeats are so far apart that the test sees none.
		eng := engine.New(engine.Config{Process: process.Config{
			Self: q, Layout: layout, Period: 3600e9, Timeout: 36000e9,
		}}, net.ends[q])
		w, err := comm.World(eng)
		if err != nil {
			tb.Fatal(err)
		}
		worlds = append(worlds, w)
		tb.Cleanup(func() { eng.Close() })
	}
	return worlds
}

// BenchmarkPath is the processor time of a message from the call of Send to the return of Recv,
// without a network. An op is one message at both its ends.
func BenchmarkPath(b *testing.B) {
	for _, c := range []struct {
		name   string
		degree int
		run    func(b *testing.B, w []*comm.Comm)
	}{
		{"blocking", 1, blocking},
		{"nonblocking", 1, nonblocking},
		{"unexpected", 1, unexpected},
		{"blocking-replicated", 2, blocking},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := wired(b, layout.Uniform(2, c.degree))
			b.ReportAllocs()
			c.run(b, w)
		})
	}
}

func blocking(b *testing.B, w []*comm.Comm) {
	out, in := make([]byte, 8), make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		for k := 0; k < len(w); k += 2 { // each replica
			from, to := i&1, 1-i&1
			if err := w[k+from].Send(out, to, 1); err != nil {
				b.Fatal(err)
			}
			if _, err := w[k+to].Recv(in, from, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func nonblocking(b *testing.B, w []*comm.Comm) {
	out, in := make([]byte, 8), make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		from, to := i&1, 1-i&1
		r, err := w[to].Irecv(in, from, 1)
		if err != nil {
			b.Fatal(err)
		}
		s, err := w[from].Isend(out, to, 1)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Wait(); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

// unexpected messages wait until they are received.
func unexpected(b *testing.B, w []*comm.Comm) {
	const batch = 16
	out, in := make([]byte, 8), make([]byte, 8)
	for i := 0; b.Loop(); i++ {
		from, to := i&1, 1-i&1
		for tag := range batch {
			if err := w[from].Send(out, to, tag); err != nil {
				b.Fatal(err)
			}
		}
		for tag := range batch {
			if _, err := w[to].Recv(in, from, batch-1-tag); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/message")
}
