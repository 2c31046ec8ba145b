package transporttest

import (
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// counter is a sink that only counts.
type counter int

func (c *counter) Frame(proto.Proc, *wire.Header, []byte)      { *c++ }
func (c *counter) Dest(proto.Proc, *wire.Header) []byte        { return nil }
func (c *counter) Arrived(proto.Proc, *wire.Header)            { *c++ }
func (c *counter) Sent(proto.Proc, uint64)                     {}
func (c *counter) Closed(p proto.Proc, why transport.Evidence) { panic(fmt.Sprint(p, why)) }

// Small frames in a steady flow cost no allocation, whether they leave at once or wait in the
// queue.
func testNoAllocation(t *testing.T, factory Factory) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	job := factory(t, 2)
	var here, there counter
	h := wire.Header{Kind: wire.KindEager, Total: 64}
	small := make([]byte, 64)
	pingPong := func(burst int) func() {
		return func() {
			want := there + counter(burst)
			for range burst {
				job.Procs[0].Send(1, &h, small, 0)
			}
			for there < want {
				job.Procs[1].Poll(&there)
				job.Procs[0].Poll(&here)
			}
			job.Procs[1].Send(0, &h, small, 7)
			for want := here + 1; here < want; {
				job.Procs[0].Poll(&here)
			}
			job.Procs[1].Poll(&there)
		}
	}
	for _, burst := range []int{1, 6000} {
		run := pingPong(burst)
		for range 3 {
			run()
		}
		n := testing.AllocsPerRun(10, run)
		for tries := 0; n >= 1 && tries < 5; tries++ { // a backlog longer than any before takes more blocks
			n = testing.AllocsPerRun(10, run)
		}
		if n >= 1 {
			t.Errorf("%v allocations for %d frames and an answer", n, burst)
		}
	}
}
