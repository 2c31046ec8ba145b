package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
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
	arriveFrom(p, sender, 1, replica.AcksOwedLimit-1, 8)
	p.Work()
	if n := acks(); n != 0 {
		t.Fatalf("%d frames acknowledge fewer than %d messages", n, replica.AcksOwedLimit)
	}
	arriveFrom(p, sender, replica.AcksOwedLimit, replica.AcksOwedLimit, 8)
	if n := acks(); n != 1 {
		t.Fatalf("%d frames acknowledge %d messages", n, replica.AcksOwedLimit)
	}
	arriveFrom(p, sender, replica.AcksOwedLimit+1, replica.AcksOwedLimit+1, 8)
	p.At(replica.AcksOwedTime / 2)
	arriveFrom(p, sender, replica.AcksOwedLimit+2, replica.AcksOwedLimit+2, 8)
	p.Work()
	p.Tick()
	if d := p.Deadline(); d != replica.AcksOwedTime || acks() != 1 {
		t.Fatalf("%d frames before it is time; that is at %d, want %d", acks(), d, replica.AcksOwedTime)
	}
	p.At(replica.AcksOwedTime)
	p.Tick()
	p.Tick()
	if n := acks(); n != 2 {
		t.Fatalf("%d frames after some time, want 2", n)
	}
	arriveFrom(p, sender, replica.AcksOwedLimit+3, replica.AcksOwedLimit+4, replica.AcksOwedBytes/2)
	if n := acks(); n != 3 {
		t.Fatalf("%d frames after two large messages, want 3", n)
	}
	if p.replica.AcksOwed() != 0 {
		t.Errorf("%d acknowledgements are owed", p.replica.AcksOwed())
	}
}

// As the paper has it, each message is acknowledged when it arrives.
func TestAcknowledgementsOfEach(t *testing.T) {
	layout := layout.Uniform(2, 2)
	p, w := single(t, layout)
	p.acks.AckPace = replica.NewAckPace(true)
	arriveFrom(p, layout.Proc(1, 0), 1, 5, 8)
	frames := 0
	for _, h := range w.headers {
		if h.Kind == wire.KindAck {
			frames++
		}
	}
	if frames != 5 || p.replica.AcksOwed() != 0 {
		t.Errorf("%d frames acknowledge 5 messages, and %d are owed", frames, p.replica.AcksOwed())
	}
}
