package comm_test

import (
	"testing"
	"time"

	"banyan/internal/comm"
	"banyan/internal/process"
	"banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/transport"
	"banyan/internal/wire"
)

// wires is a network without any cost of its own: what is sent waits in a slot of
// the receiver until it polls. All run on one goroutine.
type wires struct{ ends []*wireEnd }

type wireEnd struct {
	net    *wires
	self   proto.Proc
	queue  []wireFrame
	head   int
	loans  []wireLoan
	header [wire.HeaderSize]byte
}

type wireFrame struct {
	from    proto.Proc
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
		w.ends = append(w.ends, &wireEnd{net: w, self: proto.Proc(q), queue: make([]wireFrame, 0, 1024)})
	}
	return w
}

func (e *wireEnd) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	h.Length = uint32(len(payload))
	o := e.net.ends[to]
	o.queue = append(o.queue, wireFrame{})
	f := &o.queue[len(o.queue)-1]
	f.from, f.header = e.self, *h
	if len(payload) <= len(f.small) {
		f.payload = f.small[:copy(f.small[:], payload)]
	} else {
		f.payload = append([]byte(nil), payload...)
	}
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
	for ; e.head < len(e.queue); e.head++ {
		f := &e.queue[e.head]
		n++
		if len(f.payload) <= transport.DirectSize {
			sink.Frame(f.from, &f.header, f.payload)
			continue
		}
		if place := sink.Dest(f.from, &f.header); place != nil {
			copy(place, f.payload)
		}
		sink.Arrived(f.from, &f.header)
	}
	e.queue, e.head = e.queue[:0], 0
	return n
}

func (e *wireEnd) Wait(limit time.Duration) { time.Sleep(min(limit, time.Millisecond)) }
func (e *wireEnd) Wake()                    {}
func (e *wireEnd) Fence(proto.Proc)         {}
func (e *wireEnd) Drain(time.Duration)      {}
func (e *wireEnd) Close() error             { return nil }

// wired gives the worlds of a job whose processes share one goroutine.
func wired(tb testing.TB, layout replica.Layout) []*comm.Comm {
	net := newWires(layout.Procs())
	var worlds []*comm.Comm
	for q := range proto.Proc(layout.Procs()) {
		// The heartbeats are so far apart that none comes.
		eng := progress.New(progress.Config{Process: process.Config{
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

// BenchmarkPath is what a message costs in processor time from the call of Send to
// the return of Recv, without a network: an op is one message, both its ends.
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
			w := wired(b, replica.Layout{Ranks: 2, Degree: c.degree})
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
