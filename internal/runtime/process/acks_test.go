package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// arriveFrom brings p the messages from … to of a channel, of so many bytes each.
func arriveFrom(p *Process, from proto.Proc, first, last uint64, bytes int) {
	for seq := first; seq <= last; seq++ {
		p.Frame(from, &wire.Header{
			Kind: wire.KindEager, Context: 2, Src: p.cfg.Layout.Rank(from), Dst: p.rank, Seq: seq, Total: uint64(bytes),
		}, make([]byte, bytes+p.clock.StampSize()))
	}
}

// Arrivals are acknowledged together: when there are many, when they are large, or after some
// time. They aren't acknowledged one by one, nor because the process has nothing else to do.
func TestAcknowledgementsWait(t *testing.T) {
	layout := layout.Uniform(2, 2)
	p, w := single(t, layout) // replica 0 of rank 0
	sender := layout.Proc(1, 0)
	acks := func() (frames int) {
		for _, h := range w.headers {
			if h.Kind == wire.KindAck {
				frames++
			}
		}
		return frames
	}
	arriveFrom(p, sender, 1, acksOwedLimit-1, 8)
	p.Work()
	if n := acks(); n != 0 {
		t.Fatalf("%d frames acknowledge fewer than %d messages", n, acksOwedLimit)
	}
	arriveFrom(p, sender, acksOwedLimit, acksOwedLimit, 8)
	if n := acks(); n != 1 {
		t.Fatalf("%d frames acknowledge %d messages", n, acksOwedLimit)
	}
	arriveFrom(p, sender, acksOwedLimit+1, acksOwedLimit+1, 8)
	p.At(acksOwedTime / 2)
	arriveFrom(p, sender, acksOwedLimit+2, acksOwedLimit+2, 8)
	p.Work()
	p.Tick()
	if d := p.Deadline(); d != acksOwedTime || acks() != 1 {
		t.Fatalf("%d frames before it is time; that is at %d, want %d", acks(), d, acksOwedTime)
	}
	p.At(acksOwedTime)
	p.Tick()
	p.Tick()
	if n := acks(); n != 2 {
		t.Fatalf("%d frames after some time, want 2", n)
	}
	arriveFrom(p, sender, acksOwedLimit+3, acksOwedLimit+4, acksOwedBytes/2)
	if n := acks(); n != 3 {
		t.Fatalf("%d frames after two large messages, want 3", n)
	}
	if p.replica.AcksOwed() != 0 {
		t.Errorf("%d acknowledgements are owed", p.replica.AcksOwed())
	}
}

func TestAcksAreOwedUpToABound(t *testing.T) {
	var a ackState
	if a.owe(1, 100, 7) || a.due != 7+acksOwedTime {
		t.Errorf("after one arrival: %+v", a)
	}
	if a.owe(2, 100, 8) || a.due != 7+acksOwedTime {
		t.Errorf("the second puts off the first: %+v", a)
	}
	if !a.owe(acksOwedLimit, 0, 9) || !a.owe(3, acksOwedBytes, 9) {
		t.Error("many arrivals, or many bytes, wait")
	}
	if a.flushed(); a.bytes != 0 || a.due != 0 || a.owe(0, 0, 10) || a.due != 0 {
		t.Errorf("with nothing to acknowledge: %+v", a)
	}
}
