package mesh

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/transporttest"
	"banyan/internal/runtime/wire"
)

func BenchmarkTwoThreads(b *testing.B) {
	// The engine does the same.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	for _, m := range all {
		b.Run(m.name, func(b *testing.B) {
			ends := newTransports(b, 2, func(c *Config) { c.Media = m.media })
			transporttest.Bench(b, ends[0], ends[1])
		})
	}
}

// BenchmarkIdlePoll measures a Poll that finds nothing.
func BenchmarkIdlePoll(b *testing.B) {
	for _, m := range all {
		b.Run(m.name, func(b *testing.B) {
			c := newTransports(b, 2, func(c *Config) { c.Media = m.media })
			c[1].Send(0, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
			w := &witness{}
			for w.frames == 0 {
				c[0].Poll(w)
				c[1].Poll(w)
			}
			for b.Loop() {
				c[0].Poll(w)
			}
		})
	}
}

// BenchmarkSendPoll measures what an 8-byte message costs one core, both ends together.
func BenchmarkSendPoll(b *testing.B) {
	c := newTransports(b, 2, func(c *Config) { c.Media = SharedMemory })
	c[1].Send(0, &wire.Header{Kind: wire.KindEager}, nil, 0)
	w := new(tally)
	for *w == 0 {
		c[0].Poll(w)
		c[1].Poll(w)
	}
	h := wire.Header{Kind: wire.KindEager, Total: 8}
	payload := make([]byte, 8)
	for b.Loop() {
		c[0].Send(1, &h, payload, 0)
		c[1].Poll(w)
	}
}

// tally is a sink that counts.
type tally int

func (t *tally) Frame(proto.Proc, *wire.Header, []byte)      { *t++ }
func (t *tally) Dest(proto.Proc, *wire.Header) []byte        { return nil }
func (t *tally) Arrived(proto.Proc, *wire.Header)            { *t++ }
func (t *tally) Sent(proto.Proc, uint64)                     {}
func (t *tally) Closed(p proto.Proc, why transport.Evidence) { panic(fmt.Sprint(p, why)) }

// BenchmarkTwoProcesses measures ping-pong between two processes, each on its own core; an op is
// one way.
func BenchmarkTwoProcesses(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	for _, m := range all {
		tr, _, _ := startChild(b, roleEcho, m.media)
		awaitGreeting(tr)
		for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/pingpong/%d", m.name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				done := make(chan time.Duration)
				go func() { // on a thread that ends with it
					pin(0)
					done <- transporttest.PingPong(tr, 1, b.N/2+1, size, true)
				}()
				b.ReportMetric(float64(<-done), "best-ns/op")
			})
		}
	}
}

// awaitGreeting polls until the child's first frame has come.
func awaitGreeting(tr *Transport) {
	w := &witness{}
	for w.frames == 0 {
		tr.Poll(w)
	}
}
