package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/runtime/wire"
)

// A frame without data may come as an empty part of the transport's own buffer, which must not
// get among those that the process gives to its messages.
func TestEmptyPayloadIsNotRecycled(t *testing.T) {
	p, _ := single(t, layout.Uniform(2, 1))
	theirs := make([]byte, 4096)
	b := make([]byte, 1)
	p.Broadcast(3, 1, Shallow, b)
	for seq := range uint64(3) {
		for _, k := range []wire.Kind{wire.KindTree, wire.KindCorrectionOffer, wire.KindBroadcastReport} {
			p.Frame(1, &wire.Header{Kind: k, Context: 3, Seq: seq + 1, Src: 1, Aux: 1}, theirs[:0])
			p.Work()
		}
	}
	for _, free := range p.buffers.free {
		for _, s := range free {
			if &s[:1][0] == &theirs[0] {
				t.Fatal("the transport's buffer is in the pool")
			}
		}
	}
}
