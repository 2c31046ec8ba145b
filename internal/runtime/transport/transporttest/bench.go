package transporttest

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// tally is a sink that counts frames, and puts every large payload into the same buffer.
type tally struct {
	frames int
	back   int // payloads given back
	buffer []byte
}

func (s *tally) Frame(proto.Proc, *wire.Header, []byte)      { s.frames++ }
func (s *tally) Dest(_ proto.Proc, h *wire.Header) []byte    { return s.buffer[:h.Length] }
func (s *tally) Arrived(proto.Proc, *wire.Header)            { s.frames++ }
func (s *tally) Sent(proto.Proc, uint64)                     { s.back++ }
func (s *tally) Closed(p proto.Proc, why transport.Evidence) { panic(fmt.Sprint(p, " ", why)) }

// Bench measures two Procs, 0 and 1, on two threads that spin: ping-pong (an op is one way) and a
// one-way flow.
func Bench(b *testing.B, zero, one transport.Transport) {
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("pingpong/%d", size), func(b *testing.B) { benchPingPong(b, zero, one, size) })
	}
	for _, size := range []int{8, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("oneway/%d", size), func(b *testing.B) { benchOneWay(b, zero, one, size) })
	}
}

// loan is the token for a payload. Small payloads have none and are copied, as in a program.
func loan(size int) uint64 {
	if size > transport.DirectSize {
		return 1
	}
	return 0
}

// PingPong sends a payload of size bytes back n times after the peer has sent it, or sends it
// first. It returns the best time of a batch of messages for one way. Other processes on the
// machine don't affect the best batch, unless they are always busy.
func PingPong(tr transport.Transport, peer proto.Proc, n, size int, begin bool) (best time.Duration) {
	batch := max(1, min(200, (256<<10)/(size+1)))
	sink := &tally{buffer: make([]byte, wire.MaxPayload)}
	payload := make([]byte, size)
	h := wire.Header{Kind: wire.KindEager, Total: uint64(size)}
	token := loan(size)
	best = math.MaxInt64
	began := time.Now()
	for i := range n {
		if begin {
			tr.Send(peer, &h, payload, token)
		}
		for sink.frames <= i {
			tr.Poll(sink)
		}
		if !begin {
			tr.Send(peer, &h, payload, token)
		}
		if (i+1)%batch == 0 {
			now := time.Now()
			best, began = min(best, now.Sub(began)/time.Duration(2*batch)), now
		}
	}
	for tr.Queued(peer) > 0 || token != 0 && sink.back < n {
		tr.Poll(sink)
	}
	return best
}

func benchPingPong(b *testing.B, zero, one transport.Transport, size int) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	n := b.N/2 + 1
	pingPongBoth(zero, one, 10, size)
	b.ResetTimer()
	pingPongBoth(zero, one, n, size)
}

// pingPongBoth runs both ends on threads of their own.
func pingPongBoth(zero, one transport.Transport, n, size int) {
	var both sync.WaitGroup
	both.Go(func() {
		runtime.LockOSThread()
		PingPong(one, 0, n, size, false)
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	PingPong(zero, 1, n, size, true)
	both.Wait()
}

func benchOneWay(b *testing.B, zero, one transport.Transport, size int) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	const window = 4 << 20 // bytes that may wait in the queue
	var arrived atomic.Bool
	var both sync.WaitGroup
	both.Go(func() {
		runtime.LockOSThread()
		sink := &tally{buffer: make([]byte, wire.MaxPayload)}
		for sink.frames < b.N {
			one.Poll(sink)
		}
		arrived.Store(true)
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sink := &tally{}
	payload := make([]byte, size)
	h := wire.Header{Kind: wire.KindEager, Total: uint64(size)}
	for i := range b.N {
		zero.Send(1, &h, payload, loan(size))
		for i%64 == 0 && zero.Queued(1) > window {
			zero.Poll(sink)
		}
	}
	for !arrived.Load() {
		zero.Poll(sink)
	}
	both.Wait()
}
